import { Bell, Download, Pencil, Plus, Settings, Trash2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { compareText } from '../language.ts';
import { Avatar } from './avatar.tsx';
import { Badge } from './badge.tsx';
import { Button, IconButton, LinkButton } from './button.tsx';
import { ChangedMeanwhileDialog } from './changed-meanwhile.tsx';
import { Chart } from './chart.tsx';
import { Combobox } from './combobox.tsx';
import { ConfirmDialog, Dialog } from './dialog.tsx';
import { CheckField, FileField, PasswordField, RadioGroup, SelectField, SwitchField, TextField } from './field.tsx';
import { fieldErrors, Form } from './form.tsx';
import { Kbd } from './kbd.tsx';
import { Menu } from './menu.tsx';
import { Card, Page, Section } from './page.tsx';
import { SecretField } from './secret-field.tsx';
import { EmptyState, FailedState, Progress, QueryView, Skeleton, StaleNote } from './states.tsx';
import { Status } from './status.tsx';
import { Table } from './table.tsx';
import { Time } from './time.tsx';
import { showToast, Toasts } from './toast.tsx';
import { useUnsavedChanges } from './unsaved.ts';
import { VisuallyHidden } from './visually-hidden.tsx';

/** For developers: every part with its states. Its words are for them alone and stand in no catalogue. */
export const PartsPage = () => (
  <Page title="Parts" intro="Every part of the interface in its states." actions={<Button icon={Plus}>Action</Button>}>
    <Buttons />
    <Words />
    <Fields />
    <Forms />
    <Secrets />
    <Unsaved />
    <Dialogs />
    <Menus />
    <Tables />
    <States />
    <Charts />
    <Toasts />
  </Page>
);

const nothing = () => undefined;
const nowMs = Date.now();
const kinds = ['primary', 'secondary', 'ghost', 'danger'] as const;
const statusKinds = ['ok', 'warning', 'error', 'unknown', 'info'] as const;
const badgeKinds = ['neutral', 'ok', 'warning', 'error', 'info', 'accent'] as const;

const rules = [
  { path: 'name', message: 'must not be empty' },
  { path: 'password', message: 'Too small: expected string to have >=10 characters' },
];
const refusal = new PortalError(
  { code: 'VALIDATION_FAILED', message: 'The request is not valid.', details: rules },
  { status: 400, requestId: 'req-1a2b3c' },
);
const busy = new PortalError(
  { code: 'RATE_LIMITED', message: 'Too many attempts.' },
  { status: 429, requestId: 'req-4d5e6f', retryAfterSec: 45 },
);
const away = new PortalError({ code: 'UNREACHABLE', message: 'The service cannot be reached.' });

const Buttons = () => (
  <Card title="Buttons">
    {kinds.map((kind) => (
      <Row key={kind}>
        <Button kind={kind}>Save</Button>
        <Button kind={kind} icon={Pencil}>
          Edit
        </Button>
        <Button kind={kind} size="small">
          Small
        </Button>
        <Button kind={kind} busy>
          Busy
        </Button>
        <Button kind={kind} disabled>
          Disabled
        </Button>
        <LinkButton kind={kind} href="#main" icon={Download}>
          Link
        </LinkButton>
        <IconButton kind={kind} icon={Settings} label={`Settings, ${kind}`} />
      </Row>
    ))}
    <Row>
      <IconButton icon={Bell} label="Pressed" pressed />
      <IconButton icon={Bell} label="Not pressed" pressed={false} />
      <IconButton icon={Bell} label="Busy" busy />
      <IconButton icon={Bell} label="Disabled" disabled />
      <IconButton icon={Bell} label="Small" size="small" />
    </Row>
  </Card>
);

const names = ['Anna Schmidt', 'محمد علي', '李小龍', '👩‍👩‍👧 Familie', 'Donaudampfschifffahrtsgesellschaftskapitän'];

const Words = () => (
  <Card title="Words and signs">
    <Row>
      {statusKinds.map((kind) => (
        <Status key={kind} kind={kind}>
          {kind}
        </Status>
      ))}
    </Row>
    <Row>
      {badgeKinds.map((kind) => (
        <Badge key={kind} kind={kind}>
          {kind}
        </Badge>
      ))}
      <Kbd>Ctrl</Kbd>
      <Kbd>K</Kbd>
      <VisuallyHidden>Only for screen readers</VisuallyHidden>
    </Row>
    <Row>
      {names.map((name) => (
        <span key={name}>
          <Avatar name={name} size={32} /> <span dir="auto">{name}</span>
        </span>
      ))}
    </Row>
    <Row>
      <Time value="2026-11-26T08:30:00Z" />
      <Time value="2026-11-26T08:30:00Z" style="date" />
      <Time value="2026-11-26T08:30:00Z" style="time" />
      <Time value={nowMs - 180_000} style="relative" />
      <a href="#main">A link</a>
    </Row>
  </Card>
);

const options = [
  { value: 'de', label: 'Deutsch' },
  { value: 'en', label: 'English' },
];
const people = names.map((label, index) => ({ value: `${index}`, label, hint: `person ${index}` }));

function Fields() {
  const [text, setText] = useState('');
  const [language, setLanguage] = useState('de');
  const [isOn, setOn] = useState(true);
  const [person, setPerson] = useState<string | null>('0');
  const [files, setFiles] = useState('');
  return (
    <Card title="Fields">
      <TextField label="Text" name="text" value={text} onInput={setText} hint="A hint below" required />
      <TextField label="With an error" name="wrong" value={text} onInput={setText} error="Please fill this in." />
      <TextField label="Disabled" name="off" value="Fixed" onInput={setText} disabled />
      <TextField label="Lines" name="lines" value={text} onInput={setText} multiline rows={3} />
      <TextField label="Moment" name="moment" type="datetime-local" value="2026-11-26T09:30" onInput={nothing} />
      <TextField label="Colour" name="colour" type="color" value="#2563eb" onInput={nothing} />
      <PasswordField label="Password" name="secret" value={text} onInput={setText} autocomplete="new-password" />
      <SelectField label="Select" name="language" value={language} onChange={setLanguage} options={options} />
      <Combobox label="Combobox" items={people} value={person} onSelect={setPerson} placeholder="Search" />
      <CheckField label="Check box" name="check" checked={isOn} onChange={setOn} hint="A hint below" />
      <CheckField label="Refused" name="refused" checked={isOn} onChange={setOn} error="Please agree." />
      <SwitchField label="Switch" name="switch" checked={isOn} onChange={setOn} hint="A hint below" />
      <SwitchField label="Disabled" name="switch-off" checked={isOn} onChange={setOn} disabled />
      <RadioGroup
        legend="Radio group"
        name="radio"
        value={language}
        onChange={setLanguage}
        options={options.map((option) => ({ ...option, hint: `Stands for ${option.value}` }))}
      />
      <FileField
        label="Files"
        accept="image/*"
        multiple
        hint={files || 'Pictures'}
        onFiles={(chosen) => setFiles(chosen.map((file) => file.name).join(', '))}
      />
    </Card>
  );
}

function Forms() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const [attempts, setAttempts] = useState(0);
  const errors = fieldErrors(error);
  const submit = async () => {
    setAttempts((count) => count + 1);
    setBusy(true);
    await new Promise((resolve) => setTimeout(resolve, 500));
    setBusy(false);
    setError(name === '' || password.length < 10 ? refusal : busy);
  };
  return (
    <Card title="Form">
      <Form
        label="Example"
        onSubmit={submit}
        error={error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={isBusy}>
              Send
            </Button>
            <Button onClick={() => setError(null)}>Reset</Button>
            <span>Attempts: {attempts}</span>
          </>
        }
      >
        <TextField label="Name" name="name" value={name} onInput={setName} error={errors['name']} required />
        <PasswordField
          label="Password"
          name="password"
          value={password}
          onInput={setPassword}
          autocomplete="new-password"
          error={errors['password']}
        />
      </Form>
    </Card>
  );
}

function Secrets() {
  const [stored, setStored] = useState('');
  const [again, setAgain] = useState('');
  const [first, setFirst] = useState('');
  return (
    <Card title="Secrets">
      <SecretField label="Stored" name="stored" value={stored} onInput={setStored} isStored />
      <SecretField label="To be given again" name="again" value={again} onInput={setAgain} isStored mustGiveAgain />
      <SecretField label="Not stored yet" name="first" value={first} onInput={setFirst} isStored={false} required />
    </Card>
  );
}

function Unsaved() {
  const [isDirty, setDirty] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useUnsavedChanges(isDirty);
  const close = () => setAsking(false);
  return (
    <Card title="Unsaved changes">
      <CheckField label="Something is not saved" name="dirty" checked={isDirty} onChange={setDirty} />
      <Button onClick={() => setAsking(true)}>Changed meanwhile</Button>
      {isAsking && (
        <ChangedMeanwhileDialog
          changes={[
            { label: 'Name', theirs: 'Sales', mine: 'Sales north' },
            { label: 'Note', theirs: '', mine: 'Until May' },
          ]}
          onKeepMine={close}
          onTakeTheirs={close}
          onClose={close}
        />
      )}
    </Card>
  );
}

function Dialogs() {
  const [open, setOpen] = useState<'none' | 'plain' | 'wide' | 'form' | 'confirm'>('none');
  const [name, setName] = useState('');
  const close = () => setOpen('none');
  const actions = (
    <>
      <Button kind="primary" onClick={close}>
        Done
      </Button>
      <Button onClick={close}>Cancel</Button>
    </>
  );
  return (
    <Card title="Dialogs">
      <Row>
        <Button onClick={() => setOpen('plain')}>Plain</Button>
        <Button onClick={() => setOpen('wide')}>Wide and long</Button>
        <Button onClick={() => setOpen('form')}>With a form</Button>
        <Button onClick={() => setOpen('confirm')}>Confirm</Button>
      </Row>
      {open === 'plain' && (
        <Dialog title="Plain" onClose={close} actions={actions}>
          <p>Some words.</p>
          <Menu label="Menu in a dialog" items={[{ label: 'First', onSelect: nothing }]} />
          <Combobox label="Combobox in a dialog" items={people} value={null} onSelect={nothing} />
        </Dialog>
      )}
      {open === 'wide' && (
        <Dialog title="Wide and long" size="wide" onClose={close} actions={actions}>
          {Array.from({ length: 40 }, (_, line) => (
            <p key={line}>Line {line}</p>
          ))}
        </Dialog>
      )}
      {open === 'form' && (
        <Dialog title="With a form" onClose={close}>
          <Form onSubmit={close} actions={<Button type="submit">Save</Button>}>
            <TextField label="Name" name="dialog-name" value={name} onInput={setName} />
          </Form>
        </Dialog>
      )}
      {open === 'confirm' && (
        <ConfirmDialog
          title="Delete the picture?"
          confirmLabel="Delete"
          danger
          onClose={close}
          onConfirm={() => Promise.reject(busy)}
        >
          “Sunset.jpg” goes for good.
        </ConfirmDialog>
      )}
    </Card>
  );
}

function Menus() {
  const [isChecked, setChecked] = useState(false);
  const items = [
    { label: 'Edit', icon: Pencil, onSelect: () => showToast('Edit chosen') },
    { label: 'Compact', checked: isChecked, onSelect: () => setChecked(!isChecked) },
    { label: 'Not now', disabled: true, onSelect: nothing },
    'separator' as const,
    {
      label: 'Delete',
      icon: Trash2,
      danger: true,
      onSelect: () => showToast('Deleted', { kind: 'success', undo: () => showToast('It is back') }),
    },
  ];
  return (
    <Card title="Menus and messages" actions={<Menu label="Menu at the end" items={items} />}>
      <Row>
        <Menu label="Menu" trigger="button" icon={Settings} align="start" items={items} />
        <Button onClick={() => showToast('This is how it is.')}>Message</Button>
        <Button onClick={() => showToast('It did not work.', { kind: 'error' })}>Error</Button>
      </Row>
    </Card>
  );
}

interface Person {
  id: string;
  name: string;
  age: number;
}

const rows: Person[] = names.map((name, index) => ({ id: `${index}`, name, age: (index * 37) % 60 }));
const columns = [
  { key: 'name', label: 'Name', cell: (row: Person) => row.name, sort: byName },
  { key: 'age', label: 'Age', align: 'end' as const, cell: (row: Person) => row.age, sort: byAge },
  { key: 'state', label: 'State', cell: () => <Status kind="ok">Active</Status> },
  {
    key: 'seen',
    label: 'Seen',
    hideOnCard: true,
    cell: () => <Time value={nowMs - 7_200_000} style="relative" />,
  },
];

function byName(a: Person, b: Person): number {
  return compareText(a.name, b.name);
}

function byAge(a: Person, b: Person): number {
  return a.age - b.age;
}

const actionsOf = ({ name }: Person, onDelete: () => void) => (
  <Menu label={`Actions: ${name}`} items={[{ label: 'Delete', danger: true, onSelect: onDelete }]} />
);

function Tables() {
  const [query, setQuery] = useState('');
  const [gone, setGone] = useState<readonly string[]>([]);
  const [hasMore, setMore] = useState(true);
  const found = rows.filter(({ id, name }) => name.toLowerCase().includes(query.toLowerCase()) && !gone.includes(id));
  const actions = {
    key: 'actions',
    label: 'Actions',
    align: 'end' as const,
    cell: (person: Person) => actionsOf(person, () => setGone([...gone, person.id])),
  };
  const empty = <EmptyState title="Nobody is here">People appear once they sign in.</EmptyState>;
  return (
    <Card title="Tables">
      <Table
        caption="People"
        columns={[...columns, actions]}
        rows={found}
        rowKey={({ id }) => id}
        empty={empty}
        search={{ value: query, onInput: setQuery, label: 'Search people' }}
        paging={{ hasMore, isLoading: false, onMore: () => setMore(false), total: 12 }}
      />
      <Section title="Without rows" level={3}>
        <Table caption="Nobody" columns={columns} rows={[]} rowKey={({ id }) => id} empty={empty} />
      </Section>
    </Card>
  );
}

const query = <Data,>(data: Data | undefined, error: unknown) => ({
  data,
  error,
  dataUpdatedAt: nowMs - 600_000,
  fetchStatus: error ? ('idle' as const) : ('fetching' as const),
  refetch: () => Promise.resolve(showToast('Tried again')),
});

const States = () => (
  <Card title="States">
    <Skeleton />
    <EmptyState title="Nothing yet" action={<Button icon={Plus}>Add</Button>}>
      What you add appears here.
    </EmptyState>
    <FailedState error={busy} onRetry={nothing} />
    <FailedState error={away} onRetry={nothing} />
    <StaleNote at={nowMs - 600_000} error={away} onRetry={nothing} />
    <QueryView query={query(['Old data'], busy)}>{(data) => <p>{data}</p>}</QueryView>
    <QueryView query={query([], null)} emptyState={<EmptyState title="An empty list" />}>
      {() => null}
    </QueryView>
    <Progress label="Upload" value={3} max={10} />
    <Progress label="Waiting" />
  </Card>
);

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 10, 25, 8);
const wave = (phase: number) =>
  Array.from({ length: 48 }, (_, hour): [number, number | null] => [
    startMs + hour * hourMs,
    hour === 20 ? null : Math.round(50 + 40 * Math.sin(hour / 5 + phase)),
  ]);

const Charts = () => (
  <Card title="Chart">
    <Chart
      title="Load"
      unit="%"
      series={[
        { label: 'Processor', points: wave(0) },
        { label: 'Memory', points: wave(2) },
      ]}
    />
  </Card>
);

const Row = ({ children }: { children: ComponentChildren }) => (
  <div style={{ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: 8 }}>{children}</div>
);
