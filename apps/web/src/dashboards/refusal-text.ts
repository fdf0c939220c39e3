import { PortalError } from '@portal/client/portal-error';
import { formatBytes } from '../language.ts';
import { useErrorText } from '../ui/error-text.ts';
import { texts } from './images-texts.ts';
import { isHeic, maxImageBytes } from './picture-files.ts';

/** Why a picture was not uploaded, in words. */
export function useRefusalText(file: File, error: unknown): string {
  const t = texts.value;
  const { text } = useErrorText(error);
  const code = error instanceof PortalError ? error.code : null;
  if (code === 'PAYLOAD_TOO_LARGE') return t.tooLarge(formatBytes(file.size), formatBytes(maxImageBytes));
  if (code === 'UNSUPPORTED_IMAGE') return isHeic(file) ? t.heic : t.unsupported;
  return text;
}
