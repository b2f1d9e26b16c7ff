import { ApiFailure } from '../../src/api/api-failure.js';
import { Button } from '../../src/components/button.js';
import { EmptyState } from '../../src/components/empty-state.js';
import { EssentialsMeter } from '../../src/components/essentials-meter.js';
import { IconTile } from '../../src/components/icon-tile.js';
import { LoadFailed } from '../../src/components/load-failed.js';
import { Meter } from '../../src/components/meter.js';
import { Note } from '../../src/components/note.js';
import { RetryButton } from '../../src/components/retry-button.js';
import { Ring } from '../../src/components/ring.js';
import { Section } from '../../src/components/section.js';
import { ServerText, ServerTitle } from '../../src/components/server-text.js';
import { Tip } from '../../src/components/tip.js';
import { verdictOf } from '../../src/protection/verdict.js';
import type { Group } from '../example.js';
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
      const { state } = verdictOf({ on, total: 10 });
      return [
        { id: `ring-${on}`, title: `${on} of 10`, draw: () => <Ring on={on} total={10} state={state} /> },
        { id: `ring-${on}-small`, title: `${on}, small`, draw: () => <Ring small on={on} total={10} state={state} /> },
      ];
    }),
    { id: 'meter-some', title: 'meter', draw: () => <EssentialsMeter on={2} total={4} /> },
    { id: 'meter-full', title: 'meter, full', draw: () => <EssentialsMeter on={6} total={6} /> },
    { id: 'meter-none', title: 'meter, empty', draw: () => <Meter on={0} total={5} label="0 of 5 recipients" /> },
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
      draw: () => <LoadFailed {...retry} failure={new ApiFailure('no_response')} />,
    },
    {
      id: 'load-failed-retrying',
      title: 'not loaded, trying again',
      ground: 'page',
      draw: () => <LoadFailed {...retry} retrying failure={new ApiFailure('refused', { status: 500 })} />,
    },
    {
      id: 'load-failed-session',
      title: 'logged out',
      ground: 'page',
      draw: () => <LoadFailed {...retry} failure={new ApiFailure('session_gone')} />,
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
            <ServerTitle text="A title with <em>em</em>, <strong>strong</strong>, <b>b</b><br>and a <span>span</span>" />
          </h3>
          <p>
            <ServerText text={'A text with <strong>strong</strong> and <a href="http://example.com/">a link</a>.'} />
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
          <Tip text={UNBROKEN} className="so-pathcell">
            <span className="so-mono so-path" data-first-focus="">
              {UNBROKEN}
            </span>
          </Tip>
        </div>
      ),
      act: (hands) => hands.press('{Tab}'),
    },
  ],
};
