import { useErrorText } from '../ui/error-text.ts';

/** Why a call was refused, in one line. */
export function Refusal({ error }: { error: unknown }) {
  const { text, code } = useErrorText(error);
  return (
    <>
      {text} {code && <small>({code})</small>}
    </>
  );
}
