import { useQuery } from '@tanstack/preact-query';
import { FilterX, X } from 'lucide';
import { savedSearchesQuery } from '../dashboards/widgets/saved-searches-query.ts';
import { useKeptFocus } from '../reminders/kept-focus.ts';
import { Button } from '../ui/button.tsx';
import { cpvName } from './cpv-divisions.ts';
import { nameIn, names } from './names.ts';
import { noFilter, type TenderFilter } from './tender-filter.ts';
import s from './tenders.module.css';
import { texts } from './texts.ts';

interface ChipsProps {
  filter: TenderFilter;
  sourceName: (key: string) => string;
  onChange: (change: Partial<TenderFilter>) => void;
}

/** Everything that narrows the list, each with a button that takes it away. */
export function FilterChips({ filter, sourceName, onChange }: ChipsProps) {
  const t = texts.value;
  const searchName = useSearchName(filter.search);
  const chips = chipsOf(filter, { sourceName, searchName });
  const keptFocus = useKeptFocus<HTMLUListElement>();
  return (
    <ul class={s.row} aria-label={t.chosen} hidden={chips.length === 0} {...keptFocus}>
      {chips.map(({ key, label, without }) => (
        <li key={key} tabIndex={-1}>
          <Button
            size="small"
            icon={X}
            aria-label={t.removeFilter(label)}
            title={t.removeFilter(label)}
            onClick={() => onChange(without)}
          >
            <span dir="auto">{label}</span>
          </Button>
        </li>
      ))}
      {chips.length > 1 && (
        <li tabIndex={-1}>
          <Button size="small" kind="ghost" icon={FilterX} onClick={() => onChange(noFilter)}>
            {t.clear}
          </Button>
        </li>
      )}
    </ul>
  );
}

export const countFilters = (filter: TenderFilter): number =>
  chipsOf(filter, { sourceName: String, searchName: '' }).length;

/** The name of the saved search that is narrowed. */
function useSearchName(id: string): string {
  const { data } = useQuery({ ...savedSearchesQuery, enabled: id !== '' });
  return data?.find((search) => search.id === id)?.name ?? '';
}

interface Chip {
  key: string;
  label: string;
  without: Partial<TenderFilter>;
}

function chipsOf(
  filter: TenderFilter,
  { sourceName, searchName }: { sourceName: (key: string) => string; searchName: string },
): Chip[] {
  const t = texts.value;
  const { laender, noticeTypes } = names.value;
  const { search, q, unread, favorite, due, deadlineFrom, deadlineTo, published, publishedFrom, publishedTo } = filter;
  const one = (isSet: unknown, key: string, label: string, without: Partial<TenderFilter>): Chip[] =>
    isSet ? [{ key, label, without }] : [];
  const many = (name: 'laender' | 'cpv' | 'sources' | 'noticeTypes', nameOf: (key: string) => string) =>
    filter[name].map((key) => ({
      key: `${name} ${key}`,
      label: nameOf(key),
      without: { [name]: filter[name].filter((other) => other !== key) },
    }));
  return [
    ...one(search, 'search', searchName ? t.savedSearch(searchName) : t.someSearch, { search: '' }),
    ...one(q.trim(), 'q', q.trim(), { q: '' }),
    ...one(unread, 'unread', t.unread, { unread: false }),
    ...one(favorite, 'favorite', t.favorite, { favorite: false }),
    ...(due
      ? one(due, 'due', `${t.deadline}: ${t.dueIn[due]}`, { due: '' })
      : one(deadlineFrom || deadlineTo, 'deadline', t.between(t.deadline, deadlineFrom, deadlineTo), {
          deadlineFrom: '',
          deadlineTo: '',
        })),
    ...(published
      ? one(published, 'published', `${t.published}: ${t.publishedIn[published]}`, { published: '' })
      : one(publishedFrom || publishedTo, 'period', t.between(t.published, publishedFrom, publishedTo), {
          publishedFrom: '',
          publishedTo: '',
        })),
    ...many('laender', (key) => nameIn(laender, key)),
    ...many('cpv', cpvName),
    ...many('sources', sourceName),
    ...one(filter.buyer.trim(), 'buyer', `${t.buyer}: ${filter.buyer.trim()}`, { buyer: '' }),
    ...many('noticeTypes', (key) => nameIn(noticeTypes, key)),
  ];
}
