import { mailsOf } from '@portal/platform/area';
import { areas } from '@portal/usecases/areas';

/** Every kind of mail of the product, as a worker knows them. */
export const kinds = mailsOf(areas);
