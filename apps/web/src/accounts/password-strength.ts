/** How hard a password is to guess, by its length alone: length is what counts most. The bounds of 10 and 128 are those of the service. */
export function strengthOf(password: string): 'tooShort' | 'fair' | 'good' | 'strong' | 'tooLong' {
  // The service counts characters, not UTF-16 units.
  const { length } = [...password];
  if (length < 10) return 'tooShort';
  if (length > 128) return 'tooLong';
  if (length < 14) return 'fair';
  return length < 20 ? 'good' : 'strong';
}
