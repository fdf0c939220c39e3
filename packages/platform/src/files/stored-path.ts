// The folder repeats the id's last two digits, its most random ones: 256 folders that fill evenly.
const stored = `[a-z][a-z-]{0,40}/(?<folder>[0-9a-f]{2})/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{10}\\k<folder>\\.[a-z0-9]{1,8}`;
const storedPath = new RegExp(`^${stored}$`);
// No stored path ends like this, so half-written files cannot be opened. The middle tells writers of one path apart.
const unfinishedPath = new RegExp(`^(?<path>${stored})\\.(?<writer>[0-9A-Za-z_-]{1,2000})\\.part$`);

/** The path of a new file. Throws a TypeError unless folder, id and extension are plain. */
export function pathOf(folder: string, id: string, extension: string): string {
  const path = `${folder}/${id.slice(-2)}/${id}.${extension}`;
  if (!isStoredPath(path)) throw new TypeError('A stored file needs a UUID and a plain extension.');
  return path;
}

/** What `pathOf` made a path from. */
export function splitPath(path: string): { folder: string; id: string; extension: string } {
  const [folder = '', , name = ''] = path.split('/');
  const [id = '', extension = ''] = name.split('.');
  return { folder, id, extension };
}

/** Whether a store may have given this path to a whole file. */
export const isStoredPath = (path: string): boolean => storedPath.test(path);

/** The path of what a killed writer of `path` has left. */
export const unfinishedPathOf = (path: string, writer: string): string => `${path}.${writer}.part`;

/** Reads what `unfinishedPathOf` wrote; null for any other text. */
export function readUnfinishedPath(text: string): { path: string; writer: string } | null {
  const { path, writer } = unfinishedPath.exec(text)?.groups ?? {};
  return path === undefined || writer === undefined ? null : { path, writer };
}
