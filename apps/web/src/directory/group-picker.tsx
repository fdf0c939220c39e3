import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import profile from '../accounts/profile.module.css';
import { portal } from '../portal.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, TextField } from '../ui/field.tsx';
import { Skeleton } from '../ui/states.tsx';
import { DirectoryCallFailed } from './directory-failed.tsx';
import s from './directory.module.css';
import { texts } from './texts.ts';

interface GroupPickerProps {
  dns: readonly string[];
  onChange: (dns: string[]) => void;
  onClose: () => void;
}

const pauseMs = 300;
/** The most that the service lists. */
const maxListed = 200;

/** Searches the groups and units that the directory has now. */
export function GroupPicker({ dns, onChange, onClose }: GroupPickerProps) {
  const t = texts.value;
  const [typed, setTyped] = useState('');
  const [search, setSearch] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const groups = useQuery({
    queryKey: ['directory', 'groups', search],
    queryFn: ({ signal }) => portal.get('/ldap/groups', { params: { query: search === '' ? {} : { search } }, signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const { data, error } = groups;
  const isChosen = (dn: string) => dns.some((one) => sameDn(one, dn));
  const toggle = (dn: string, isOn: boolean) => onChange(isOn ? [...dns, dn] : dns.filter((one) => !sameDn(one, dn)));
  return (
    <Dialog
      title={t.pickTitle}
      onClose={onClose}
      size="wide"
      actions={
        <>
          <Button kind="primary" onClick={onClose}>
            {t.done}
          </Button>
          <span class={profile.note}>{t.chosen(dns.length)}</span>
        </>
      }
    >
      <p class={profile.note}>{t.pickHint}</p>
      <TextField label={t.search} name="search" type="search" value={typed} onInput={setTyped} />
      {error ? (
        <DirectoryCallFailed error={error} onRetry={() => void groups.refetch()} />
      ) : (
        <div class={s.picks} aria-busy={groups.isFetching}>
          {!data && <Skeleton />}
          {data?.map(({ dn, name, kind }) => (
            <CheckField
              key={dn}
              name={dn}
              label={
                <>
                  {name} <Badge>{t.kinds[kind]}</Badge>
                </>
              }
              hint={dn}
              checked={isChosen(dn)}
              onChange={(isOn) => toggle(dn, isOn)}
            />
          ))}
          <div role="status">
            {data?.length === 0 && t.nothingFound}
            {data?.length === maxListed && t.tooMany}
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** Servers write names with other cases and spaces than people; the service compares them exactly. */
const sameDn = (a: string, b: string): boolean => plain(a) === plain(b);
const plain = (dn: string): string => dn.toLowerCase().replaceAll(/\s*([,=])\s*/g, '$1');
