/** Where a value of a new object comes from, and what is made of it; without `read` it is taken as it is. */
export interface ShapeField {
  key: string;
  from: string | number;
  read?: ((value: unknown) => unknown) | undefined;
}

/**
 * Compiles the function that makes an object of these keys, in this order, out of another object or a row. It is one object literal:
 * engines make and write such objects several times as fast as those that are filled key by key.
 */
export function compileShape(fields: ShapeField[]): (source: object) => Record<string, unknown> {
  const readers = fields.map(({ read }) => read);
  const entries = fields.map(({ key, from, read }, n) => {
    const value = `source[${JSON.stringify(from)}]`;
    if (key === '__proto__') throw new TypeError('in a literal this would be no key');
    return `${JSON.stringify(key)}: ${read ? `read${n}(${value})` : value}`;
  });
  const names = readers.map((_, n) => `read${n}`);
  // Of the caller only keys get into the text, each as a JSON string.
  // oxlint-disable-next-line typescript/no-implied-eval
  const make = new Function(...names, `return (source) => ({ ${entries.join(', ')} });`);
  return make(...readers) as (source: object) => Record<string, unknown>;
}
