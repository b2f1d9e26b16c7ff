import { useEffect } from 'react';
import { ApiError } from '../../src/api/envelope.js';
import { Loader } from '../../src/app/loading-bar.js';
import { useRequestStore } from '../../src/app/request-lifecycle.js';
import { EssentialsMeter, getVerdict } from '../../src/features/settings/essentials.js';
import { LoadFailed } from '../../src/forms/request-failed.js';
import { Button, RetryButton } from '../../src/ui/button.js';
import { CopyValue } from '../../src/ui/copy.js';
import { IconTile } from '../../src/ui/icon.js';
import { EmptyState, Note } from '../../src/ui/inline-messages.js';
import { Meter, Ring } from '../../src/ui/meter.js';
import { SafeHtml, SafeHtmlTitle } from '../../src/ui/safe-html.js';
import { Section } from '../../src/ui/section.js';
import { TextWith } from '../../src/ui/text-with.js';
import { type Toast, type ToastType, undoToast, useToasts } from '../../src/ui/toast-store.js';
import { ToastCard, Toasts } from '../../src/ui/toasts.js';
import { Tooltip } from '../../src/ui/tooltip.js';
import type { Group, PartExample } from '../example.js';
import { LONG, nothing, UNBROKEN } from './samples.js';

export const tiles: Group = {
  id: 'tiles',
  title: 'Tiles, tags, pills, rings and meters',
  small: true,
  examples: [
    ...(['off', 'on', 'warn', 'danger', 'info'] as const).flatMap((state) => [
      { id: `tile-${state}`, title: state, draw: () => <IconTile name="shield-check" state={state} /> },
      { id: `tile-${state}-large`, title: `${state}, large`, draw: () => <IconTile name="key" state={state} large /> },
    ]),
    {
      id: 'tile-unknown-icon',
      title: 'an icon that is not there',
      draw: () => <IconTile name="no-such-icon" state="off" />,
    },
    ...[10, 7, 5, 2, 0].flatMap((on) => {
      const { state } = getVerdict({ on, total: 10 });
      return [
        {
          id: `ring-${on}`,
          title: `${on} of 10`,
          draw: () => <Ring on={on} total={10} label={`${on} of 10 on`} state={state} />,
        },
        {
          id: `ring-${on}-small`,
          title: `${on}, small`,
          draw: () => <Ring small on={on} total={10} label={`${on} of 10 on`} state={state} />,
        },
      ];
    }),
    { id: 'meter-some', title: 'meter', draw: () => <EssentialsMeter on={2} total={4} /> },
    { id: 'meter-full', title: 'meter, full', draw: () => <EssentialsMeter on={6} total={6} /> },
    { id: 'meter-none', title: 'meter, empty', draw: () => <Meter on={0} total={5} label="0 of 5 recipients" /> },
    {
      id: 'copy-value',
      title: 'value with Copy',
      draw: () => <CopyValue text="example.com/team-entrance" label="Login URL" />,
    },
    { id: 'tag', title: 'tag', draw: () => <span className="so-tag">recommended</span> },
    { id: 'badge', title: 'counter', draw: () => <span className="so-badge so-num">1,248</span> },
    ...[
      ['grey', '', '200'],
      ['warn', ' so-pill--warn', '404'],
      ['bad', ' so-pill--bad', '403 Blocked'],
    ].map(([name, kind, text]) => ({
      id: `pill-${name}`,
      title: `pill ${name}`,
      draw: () => <span className={`so-pill${kind}`}>{text}</span>,
    })),
    { id: 'spinner', title: 'spinner', draw: () => <span className="so-spin" /> },
  ],
};

const NOTES = { info: 'Information', ok: 'Success', warn: 'Warning', bad: 'Error' } as const;
const retry = { onRetry: nothing, text: 'We couldn’t load this list.' };

export const messages: Group = {
  id: 'messages',
  title: 'Notes, empty and failed',
  examples: [
    ...(['info', 'ok', 'warn', 'bad'] as const).flatMap((kind) => [
      {
        id: `note-${kind}`,
        title: NOTES[kind],
        ground: 'page' as const,
        draw: () => (
          <Note kind={kind}>
            <p>
              <strong>{NOTES[kind]}.</strong> What happened, and what to do next.
            </p>
          </Note>
        ),
      },
      {
        id: `note-${kind}-action`,
        title: `${NOTES[kind]} with a button`,
        ground: 'page' as const,
        draw: () => (
          <Note kind={kind} action={<Button>Try again</Button>}>
            <p>{`${LONG}. ${LONG}. ${LONG}.`}</p>
          </Note>
        ),
      },
    ]),
    { id: 'retry-button', title: 'try again', ground: 'page', draw: () => <RetryButton onRetry={nothing} /> },
    {
      id: 'load-failed',
      title: 'not loaded',
      ground: 'page',
      draw: () => <LoadFailed {...retry} failure={new ApiError('no_response')} />,
    },
    {
      id: 'load-failed-retrying',
      title: 'not loaded, trying again',
      ground: 'page',
      draw: () => <LoadFailed {...retry} retrying failure={new ApiError('refused', { status: 500 })} />,
    },
    {
      id: 'load-failed-session',
      title: 'logged out',
      ground: 'page',
      draw: () => <LoadFailed {...retry} failure={new ApiError('session_gone')} />,
    },
    {
      id: 'empty-state',
      title: 'nothing found',
      ground: 'flush',
      draw: () => <EmptyState text="Try a longer period or remove a filter." />,
    },
    {
      id: 'empty-state-button',
      title: 'nothing found, with a button',
      ground: 'flush',
      draw: () => (
        <EmptyState text="Try a longer period or remove a filter.">
          <Button>Clear all</Button>
        </EmptyState>
      ),
    },
    {
      id: 'section',
      title: 'section with a meter',
      ground: 'page',
      draw: () => (
        <Section title="Options" side={<EssentialsMeter on={4} total={6} />}>
          <div className="so-card so-card__body">Its card</div>
        </Section>
      ),
    },
    {
      id: 'server-text',
      title: 'texts of a server',
      draw: () => (
        <>
          <h3>
            <SafeHtmlTitle text="A title with <em>em</em>, <strong>strong</strong>, <b>b</b><br>and a <span>span</span>" />
          </h3>
          <p>
            <SafeHtml text={'A text with <strong>strong</strong> and <a href="http://example.com/">a link</a>.'} />
          </p>
          <p>
            <TextWith text="A text with %s in it.">
              <b>an element</b>
            </TextWith>
          </p>
        </>
      ),
    },
    {
      id: 'tip',
      title: 'tooltip, on focus of a text that is cut',
      room: 60,
      draw: () => (
        <div style={{ width: 240, paddingTop: 48 }}>
          <Tooltip text={UNBROKEN} className="so-pathcell">
            <span className="so-mono so-path" data-first-focus="">
              {UNBROKEN}
            </span>
          </Tooltip>
        </div>
      ),
      act: (user) => user.press('{Tab}'),
    },
  ],
};

const action = { label: 'Log in again', href: '#login' };

function toast(id: string, shown: Toast, leaving = false): PartExample {
  return {
    id: `toast-${id}`,
    title: `message, ${id.replace(/-/g, ' ')}`,
    ground: 'page',
    draw: () => (
      <div style={{ width: 384 }}>
        <ToastCard toast={{ ...shown, id: 1, leaving }} onClose={nothing} />
      </div>
    ),
  };
}

/** The toasts as the pages show them: each is added to the store. */
function Several() {
  const toasts = useToasts();
  useEffect(() => {
    const types: readonly ToastType[] = ['success', 'info', 'warning', 'error'];
    for (const type of types) toasts.show({ type, text: `A message of the type ${type}.`, autoClose: false });
  }, [toasts]);
  return <Toasts />;
}

function Running() {
  const requests = useRequestStore();
  useEffect(() => requests.started('gallery'), [requests]);
  return (
    <Loader delay={0} requests={['gallery']}>
      {(line) => line}
    </Loader>
  );
}

export const toasts: Group = {
  id: 'toasts-and-loader',
  title: 'Messages and the loader',
  examples: [
    toast('success', { type: 'success', text: 'The setting is saved.', autoClose: true }),
    toast('error', { type: 'error', text: 'The setting could not be saved.', autoClose: false }),
    toast('warning', {
      type: 'warning',
      title: 'Two plugins were skipped',
      text: 'They are not free.',
      autoClose: false,
    }),
    toast('info', { type: 'info', title: 'Five recipients is the limit', text: 'Remove one first.', autoClose: true }),
    toast('without-title', { type: 'info', text: 'There are new entries.', autoClose: false }),
    toast('with-button', { type: 'error', text: 'You are logged out', autoClose: false, action }),
    toast(
      'undo',
      undoToast({
        title: 'Blocked for 24 hours',
        text: '203.0.113.24, until tomorrow, 14:35',
        undo: nothing,
      }),
    ),
    toast('undo-without-text', undoToast({ title: 'System folders are unlocked.', undo: nothing })),
    toast('server-text', {
      type: 'error',
      text: 'Ask your <strong>host</strong> or read <a href="http://example.com/">how</a>.',
      autoClose: false,
    }),
    toast('long-text', { type: 'warning', title: LONG, text: `${LONG}. ${LONG}.`, autoClose: false, action }),
    { id: 'toasts', title: 'the area of messages', alone: true, draw: () => <Several /> },
    { id: 'loader', title: 'loader line', ground: 'flush', draw: () => <Running /> },
  ],
};
