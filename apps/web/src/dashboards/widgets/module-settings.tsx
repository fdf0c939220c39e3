import { useQuery } from '@tanstack/preact-query';
import type { CloudInstance, Server } from '@portal/client/interface';
import { Badge } from '../../ui/badge.tsx';
import { SelectField, SwitchField, TextField } from '../../ui/field.tsx';
import { sourcesQuery } from './calendar-sources-query.ts';
import { cloudsQuery } from './clouds-query.ts';
import { errorOf, numberShown, numberTyped, withKey } from './config-edits.ts';
import { readCalendar, readClouds, readServers, readTenderRadar } from './configs.ts';
import { PickList } from './pick-list.tsx';
import { savedSearchesQuery } from './saved-searches-query.ts';
import { serversQuery } from './servers-query.ts';
import { SettingsForm } from './settings-form.tsx';
import { texts } from './settings-texts.ts';
import css from './settings.module.css';
import type { SettingsProps } from './tile-props.ts';
import { TileView } from './tile-view.tsx';

export function CalendarSettings({ config, onChange, errors }: SettingsProps) {
  const t = texts.value;
  const { sourceIds } = readCalendar(config);
  const sources = useQuery(sourcesQuery);
  return (
    <SettingsForm errors={errors}>
      <TextField
        label={t.days}
        name="days"
        type="number"
        min={1}
        max={31}
        value={numberShown(config, 'days')}
        placeholder={String(readCalendar({}).days)}
        onInput={(typed) => onChange(withKey(config, 'days', numberTyped(typed)))}
        error={errorOf(errors, 'days')}
      />
      <TileView query={sources} empty={t.noCalendars}>
        {(all) => (
          <PickList
            legend={t.calendars}
            hint={t.allIfNone}
            ids={sourceIds}
            onChange={(ids) => onChange(withKey(config, 'sourceIds', orAll(ids)))}
            error={errorOf(errors, 'sourceIds')}
            items={all.map(({ id, name, color, isActive }) => ({
              id,
              text: name,
              label: (
                <>
                  <span class={css.swatch} style={{ background: color }} /> {name} {!isActive && <Off />}
                </>
              ),
            }))}
          />
        )}
      </TileView>
    </SettingsForm>
  );
}

export function TenderRadarSettings({ config, onChange, errors }: SettingsProps) {
  const t = texts.value;
  const { savedSearchId } = readTenderRadar(config);
  const searches = useQuery(savedSearchesQuery);
  return (
    <SettingsForm errors={errors}>
      <TileView query={searches} isEmpty={() => false} empty={null}>
        {(all) => (
          <SelectField
            label={t.savedSearch}
            name="savedSearchId"
            value={savedSearchId}
            onChange={(id) => onChange(withKey(config, 'savedSearchId', id || undefined))}
            options={[{ value: '', label: t.allTenders }, ...all.map(({ id, name }) => ({ value: id, label: name }))]}
            hint={all.length === 0 ? t.noSearches : undefined}
            error={errorOf(errors, 'savedSearchId')}
          />
        )}
      </TileView>
      <TextField
        label={t.limit}
        name="limit"
        type="number"
        min={1}
        max={20}
        value={numberShown(config, 'limit')}
        placeholder={String(readTenderRadar({}).limit)}
        onInput={(typed) => onChange(withKey(config, 'limit', numberTyped(typed)))}
        error={errorOf(errors, 'limit')}
      />
    </SettingsForm>
  );
}

/** The form of the tile of one kind of server. */
export const ServerSettings = (kind: Server['kind']) =>
  function ServerSettings({ config, onChange, errors }: SettingsProps) {
    const t = texts.value;
    const { ids, isCompact } = readServers(config);
    const servers = useQuery(serversQuery);
    const ofKind = (all: Server[]) => all.filter((server) => server.kind === kind);
    return (
      <SettingsForm errors={errors}>
        <Compact isCompact={isCompact} {...{ config, onChange, errors }} />
        <TileView query={servers} isEmpty={(all) => ofKind(all).length === 0} empty={t.noServers}>
          {(all) => (
            <PickList
              legend={t.servers}
              hint={t.allIfNone}
              ids={ids}
              onChange={(ids) => onChange(withKey(config, 'serverIds', orAll(ids)))}
              error={errorOf(errors, 'serverIds')}
              items={ofKind(all).map(({ id, name, address, isActive }) => ({
                id,
                text: `${name} ${address}`,
                label: (
                  <>
                    {name} {!isActive && <Off />}
                  </>
                ),
              }))}
            />
          )}
        </TileView>
      </SettingsForm>
    );
  };

export function CloudSettings({ config, onChange, errors }: SettingsProps) {
  const t = texts.value;
  const { ids, isCompact } = readClouds(config);
  const clouds = useQuery(cloudsQuery);
  return (
    <SettingsForm errors={errors}>
      <Compact isCompact={isCompact} {...{ config, onChange, errors }} />
      <TileView query={clouds} empty={t.noClouds}>
        {(all: CloudInstance[]) => (
          <PickList
            legend={t.clouds}
            hint={t.allIfNone}
            ids={ids}
            onChange={(ids) => onChange(withKey(config, 'instanceIds', orAll(ids)))}
            error={errorOf(errors, 'instanceIds')}
            items={all.map(({ id, customerName, statusUrl, isActive }) => ({
              id,
              text: `${customerName} ${statusUrl}`,
              label: (
                <>
                  {customerName} {!isActive && <Off />}
                </>
              ),
            }))}
          />
        )}
      </TileView>
    </SettingsForm>
  );
}

const orAll = (ids: string[]): string[] | undefined => (ids.length === 0 ? undefined : ids);

const Off = () => <Badge>{texts.value.off}</Badge>;

function Compact({ isCompact, config, onChange, errors }: SettingsProps & { isCompact: boolean }) {
  const t = texts.value;
  return (
    <SwitchField
      label={t.compact}
      name="compact"
      checked={isCompact}
      onChange={(compact) => onChange({ ...config, compact })}
      hint={t.compactHint}
      error={errorOf(errors, 'compact')}
    />
  );
}
