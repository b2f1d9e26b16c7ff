import type { RegisteredRow } from '@security-optimizer/contract/activity/schemas';
import type { ReactNode } from 'react';
import { __ } from '../../i18n/translate.js';
import { CopyTextButton } from '../../ui/copy.js';
import { useDialogClose } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';
import { Drawer, type OpenList, useOpenRow } from '../../ui/drawer.js';
import { Icon } from '../../ui/icon.js';
import { useSiteClock } from '../settings/site-clock.js';
import { BlockSplit } from './block-split.js';
import type { FindBlock } from './blocks.js';
import { eventAddress, eventText, formatRowTime, isAttempt, originText } from './log-tables.js';
import type { Blocking } from './use-blocking.js';
import { VisitorSubject } from './visitor-subject.js';

export interface EventDrawerProps extends OpenList<RegisteredRow> {
  readonly loadedAt: number;
  readonly findBlock: FindBlock;
  readonly blocking: Blocking;
  readonly onClosed: () => void;
}

/** The details of an event of a registered user, with Block for its address. */
export default function EventDrawer(props: EventDrawerProps) {
  const { loadedAt, findBlock, blocking, onClosed } = props;
  const clock = useSiteClock();
  const closing = useDialogClose(onClosed);
  const { row, place } = useOpenRow(props);
  if (row === undefined) return null;

  const block = findBlock(row.ip, row.ip_block, loadedAt);
  const sentence = eventText(row, clock.formats);
  const moment = formatRowTime(row.ts, row.ts_unix, clock.formats);
  const time = moment === null ? row.ts : `${moment.day}, ${moment.time}`;
  const isFailure = isAttempt(row) || row.words.kind === 'login.locked';
  const canBlock = row.ip_visitor_id > 0 && (row.ip_do_not_block === 0 || block !== null);

  const facts: readonly (readonly [string, ReactNode])[] = [
    [__('Time', 'security-optimizer'), <span key="time">{time}</span>],
    [
      isAttempt(row) ? __('Tried login', 'security-optimizer') : __('User', 'security-optimizer'),
      <span key="user">
        <bdi>{row.user || originText(row.origin)}</bdi>
      </span>,
    ],
  ];
  return (
    <Drawer
      title={__('Activity', 'security-optimizer')}
      place={place}
      closing={closing}
      newerText={__('Newer entry', 'security-optimizer')}
      olderText={__('Older entry', 'security-optimizer')}
      footer={
        <>
          <CopyTextButton text={[sentence, time, row.user, row.ip, row.hostname].filter(Boolean).join('\n')}>
            {__('Copy details', 'security-optimizer')}
          </CopyTextButton>
          {canBlock ? (
            <BlockSplit target={{ name: row.ip, visitorId: row.ip_visitor_id, block }} blocking={blocking} />
          ) : null}
        </>
      }
    >
      <div className={classes('so-answer', isFailure ? 'so-answer--warn' : 'so-answer--plain')}>
        <Icon name={isFailure ? 'alert' : 'info'} />
        <div>
          <b>{sentence}</b>
        </div>
      </div>
      <dl className="so-dl so-dl--left">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="so-num">{value}</dd>
          </div>
        ))}
      </dl>
      {row.ip === '' ? null : <VisitorSubject name={eventAddress(row)} hostname={row.hostname} block={block} />}
    </Drawer>
  );
}
