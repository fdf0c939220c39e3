import { Download } from 'lucide';
import { useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { fieldTextOf } from '../ui/error-text.ts';
import { CheckField, PasswordField, RadioGroup, SelectField, TextField } from '../ui/field.tsx';
import { fetchFile, saveFile } from '../ui/file-transfer.ts';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { type Analysis, nameOf, type Part } from './analysis.ts';
import { type Format, formatsOf, hasChain, ingredientsOf, needsKey } from './export-choices.ts';
import { texts } from './texts.ts';

interface ExportDialogProps {
  part: Part;
  analysis: Analysis;
  onClose: () => void;
}

/** Saves a certificate, with what belongs to it, as a file of another format. */
export function ExportDialog({ part, analysis, onClose }: ExportDialogProps) {
  const t = texts.value;
  const parts = ingredientsOf(part, analysis);
  const { certificate, key, request, chains } = parts;
  const formats = formatsOf(parts);
  const byId = new Map(analysis.parts.map((each) => [each.id, each]));
  const lackOf = (format: Format): string | null => {
    if (!needsKey(format)) return null;
    if (!key) return analysis.parts.some(({ kind }) => kind === 'key') ? t.needsOwnKey : t.needsKey;
    return format === 'key-pkcs1' && !key.keyType.startsWith('RSA') ? t.needsRsa(key.keyType) : null;
  };
  const [format, setFormat] = useState<Format>(() => formats.find((each) => lackOf(each) === null) ?? 'crt');
  const [chainIndex, setChainIndex] = useState('0');
  const [password, setPassword] = useState('');
  const [friendlyName, setFriendlyName] = useState('');
  const [legacy, setLegacy] = useState(false);
  const [includeRoot, setIncludeRoot] = useState(false);
  const chain = (chains[Number(chainIndex)] ?? []).flatMap((id) => byId.get(id) ?? []);
  const hasRoot = chain.length > 1 && chain.at(-1)?.kind === 'root';

  const save = useMutation({
    // Keys and passwords are not to stay anywhere.
    gcTime: 0,
    mutationFn: () =>
      fetchFile(
        (options) =>
          portal.post('/certificates/export', {
            body: {
              format,
              ...(certificate && !format.startsWith('csr') && { certificatePem: certificate.pem }),
              ...(hasChain(format) && { chainPems: chain.slice(1).map(({ pem }) => pem) }),
              ...(key && needsKey(format) && { privateKeyPem: key.pem }),
              ...(request && (format.startsWith('csr') || !certificate) && { csrPem: request.pem }),
              ...(format === 'pfx' && {
                ...(password !== '' && { password }),
                ...(friendlyName.trim() !== '' && { friendlyName: friendlyName.trim() }),
              }),
              legacy: format === 'pfx' && legacy,
              includeRoot: hasChain(format) && includeRoot,
            },
            ...options,
          }),
        'export',
      ),
    onSuccess: (file) => {
      saveFile(file);
      const isOpenKey = format.startsWith('key-');
      showToast(isOpenKey ? t.downloadedKey(file.name) : t.downloaded(file.name), { kind: 'success' });
    },
  });
  const errors = fieldErrors(save.error);
  const isWithoutPassword = save.error instanceof PortalError && save.error.code === 'PASSWORD_REQUIRED';
  const withoutRoot = chain.filter(({ kind }, index) => index === 0 || kind !== 'root' || includeRoot);

  return (
    <Dialog title={t.exportOf(nameOf(part))} onClose={onClose} isSafeToClose>
      <Form
        label={t.exportOf(nameOf(part))}
        onSubmit={() => save.mutateAsync()}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" icon={Download} busy={save.isPending}>
              {t.download}
            </Button>
            <Button onClick={onClose}>{t.close}</Button>
          </>
        }
      >
        <RadioGroup
          legend={t.format}
          name="format"
          value={format}
          onChange={(chosen) => {
            setFormat(chosen);
            save.reset();
          }}
          options={formats.map((value) => {
            const lack = lackOf(value);
            return { value, label: t.formats[value], hint: lack ?? t.formatHints[value], disabled: lack !== null };
          })}
        />
        {hasChain(format) && chains.length > 1 && (
          <SelectField
            label={t.chain}
            name="chain"
            value={chainIndex}
            onChange={setChainIndex}
            options={chains.map((path, index) => ({
              value: String(index),
              label: path
                .toReversed()
                .map((id) => nameOf(byId.get(id) ?? part))
                .join(' → '),
            }))}
          />
        )}
        {hasChain(format) && hasRoot && (
          <CheckField
            label={t.includeRoot}
            name="includeRoot"
            checked={includeRoot}
            onChange={setIncludeRoot}
            hint={t.includeRootHint}
          />
        )}
        {format === 'pfx' && (
          <>
            <PasswordField
              label={t.exportPassword}
              name="password"
              autocomplete="new-password"
              required
              value={password}
              onInput={setPassword}
              hint={t.exportPasswordHint}
              error={errors['password'] ?? (isWithoutPassword ? fieldTextOf('is required') : undefined)}
            />
            <TextField
              label={t.friendlyName}
              name="friendlyName"
              autocomplete="off"
              maxLength={200}
              value={friendlyName}
              onInput={setFriendlyName}
              hint={t.friendlyNameHint}
              error={errors['friendlyName']}
            />
            <CheckField label={t.legacy} name="legacy" checked={legacy} onChange={setLegacy} hint={t.legacyHint} />
          </>
        )}
        {hasChain(format) && (
          <p>{t.partsUsed([...withoutRoot.map(nameOf), ...(format === 'pfx' ? [t.kinds.key] : [])].join(', '))}</p>
        )}
      </Form>
    </Dialog>
  );
}
