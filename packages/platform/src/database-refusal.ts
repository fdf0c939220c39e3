// For the API, which maps database refusals to answers but must not import the database package.
export { isDatabaseRefusal, refusalByDatabase } from '@portal/db/database-error';
