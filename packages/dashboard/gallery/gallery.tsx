import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from '../src/api/api-failure.js';
import { Button } from '../src/components/button.js';
import { EmptyState } from '../src/components/empty-state.js';
import { EssentialsMeter } from '../src/components/essentials-meter.js';
import { IconTile } from '../src/components/icon-tile.js';
import { LoadFailed } from '../src/components/load-failed.js';
import { Note } from '../src/components/note.js';
import { Ring } from '../src/components/ring.js';
import { Section } from '../src/components/section.js';
import { TableSkeleton } from '../src/components/table-skeleton.js';
import { Tabs } from '../src/components/tabs.js';
import { ToggleRow } from '../src/components/toggle-row.js';
import { ToggleRowSkeleton } from '../src/components/toggle-row-skeleton.js';
import { readConfig } from '../src/config/read-config.js';
import { Field } from '../src/forms/field.js';
import { Toasts } from '../src/notices/toasts.js';
import { createServices, ServicesProvider } from '../src/services.js';

declare const __SHEETS__: readonly string[];

const sheets = import.meta.glob<string>('../src/styles/*.css', { query: '?inline', import: 'default', eager: true });
const style = document.createElement('style');
style.textContent = __SHEETS__.map((name) => sheets[`../src/styles/${name}.css`] ?? '').join('\n');
document.head.append(style);

const nothing = (): void => undefined;
const container = document.getElementById('gallery') as HTMLElement;
const portal = document.createElement('div');
portal.className = 'so so-portal';
document.body.append(portal);
const services = createServices(readConfig(container, window.location.href), {
  address: window.location.href,
  fetch: (input, init) => window.fetch(input, init),
  portal,
  navigate: nothing,
});
for (const type of ['success', 'info', 'warning', 'error'] as const) {
  services.notices.show({ type, text: `A message of the type ${type}.`, autoClose: false });
}

const row = {
  icon: 'plug',
  title: 'A setting',
  help: 'What it does, in one sentence.',
  onToggle: nothing,
  onRetry: nothing,
};
const off = { ...row, on: false, pending: false, recommended: false };

/** Each component with all its states, one card for each. */
const components: readonly (readonly [string, ReactNode])[] = [
  [
    'Button',
    (['primary', 'secondary', 'danger', 'quiet'] as const).map((kind) => (
      <p key={kind} className="so-mt-16">
        <Button kind={kind}>{kind}</Button>{' '}
        <Button kind={kind} small>
          small
        </Button>{' '}
        <Button kind={kind} disabled>
          disabled
        </Button>{' '}
        <Button kind={kind} pendingText="Saving…">
          pending
        </Button>
      </p>
    )),
  ],
  [
    'Icon tile',
    (['off', 'on', 'warn', 'danger', 'info'] as const).map((state) => (
      <IconTile key={state} name="shield-check" state={state} large={state === 'on'} />
    )),
  ],
  [
    'Ring and meter',
    <div key="rings" className="so-hero__top">
      <Ring on={10} total={10} /> <Ring on={5} total={10} state="warn" /> <Ring on={2} total={10} state="danger" />{' '}
      <Ring on={7} total={10} small /> <EssentialsMeter on={2} total={4} />
    </div>,
  ],
  [
    'Toggle row',
    <>
      <ToggleRow {...off} />
      <ToggleRow {...off} recommended />
      <ToggleRow {...off} on />
      <ToggleRow {...off} on pending />
      <ToggleRow {...off} disabled />
      <ToggleRow {...off} error="We couldn’t save this. The option is still off." />
      <ToggleRowSkeleton />
    </>,
  ],
  [
    'Note',
    (['info', 'ok', 'warn', 'bad'] as const).map((kind) => (
      <div key={kind} className="so-mt-16">
        <Note kind={kind} action={<Button>Do it</Button>}>
          <p>A note of the kind {kind}.</p>
        </Note>
      </div>
    )),
  ],
  [
    'Field',
    <>
      <Field label="Label" help="A hint." error={undefined}>
        {(control) => <input {...control} className="so-input" type="text" defaultValue="Value" />}
      </Field>
      <Field label="Label" error="This field is required.">
        {(control) => <input {...control} className="so-input" type="text" />}
      </Field>
    </>,
  ],
  [
    'Tabs',
    <Tabs
      key="tabs"
      label="Tabs"
      base="gallery"
      current="one"
      tabs={[
        { id: 'one', text: 'Open' },
        { id: 'two', text: 'With a counter', count: '6' },
      ]}
      onChange={nothing}
    />,
  ],
  ['Skeleton', <TableSkeleton key="skeleton" columns={['Time', 'Visitor', 'Page', 'Actions']} />],
  ['Empty state', <EmptyState key="empty" text="Try a longer period or remove a filter." />],
  [
    'Load failed',
    <LoadFailed
      key="failed"
      text="We couldn’t load this list."
      failure={new ApiFailure('no_response')}
      onRetry={nothing}
    />,
  ],
];

createRoot(container).render(
  <ServicesProvider services={services}>
    <main className="so-wrap">
      <h1>Components</h1>
      {components.map(([name, shown]) => (
        <Section key={name} title={name}>
          <div className="so-card so-card__body">{shown}</div>
        </Section>
      ))}
    </main>
    <Toasts />
  </ServicesProvider>,
);
