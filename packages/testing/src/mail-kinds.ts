import { mailsOf } from '@portal/platform/area';
import { areas } from '@portal/usecases/areas';

/** Every mail kind of the product, as in a worker. */
export const kinds = mailsOf(areas);
