// For the API, which answers what the database refused but never reaches for it.
export { isDatabaseRefusal, refusalByDatabase } from '@portal/db/database-error';
