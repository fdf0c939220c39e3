// Private to this file, so that no other file can pass off a string as markup.
const made = Symbol('markup');

/** HTML that is safe to send: only `markup` creates it, and `markup` escapes every string. */
export interface Markup {
  readonly [made]: true;
  readonly source: string;
}

type Piece = string | Markup | readonly Markup[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escape = (value: string): string => value.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);

const toSource = (piece: Piece): string => {
  if (typeof piece === 'string') {
    return escape(piece);
  }
  return 'source' in piece ? piece.source : piece.map((part) => part.source).join('');
};

/** Not named `html`, because formatters rewrap `html` templates and break Outlook's conditional comments. */
export const markup = (literals: TemplateStringsArray, ...pieces: readonly Piece[]): Markup => ({
  [made]: true,
  source: literals.reduce((source, literal, index) => source + toSource(pieces[index - 1] ?? '') + literal),
});

export const nothing: Markup = markup``;
