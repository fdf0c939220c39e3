/** The limits of the service for own pictures, and the types that it takes. */
export const maxImages = 30;
export const maxImageBytes = 5 * 1024 * 1024;
export const imageTypes = 'image/png,image/jpeg,image/gif,image/webp';

type FileSigns = Pick<File, 'name' | 'type'>;

/** The format of iPhones. Many systems do not know its type, so the name counts, too. */
export const isHeic = ({ type, name }: FileSigns): boolean => /^image\/hei[cf]/.test(type) || /\.hei[cf]$/i.test(name);

export const isVector = ({ type, name }: FileSigns): boolean => type.startsWith('image/svg') || /\.svgz?$/i.test(name);
