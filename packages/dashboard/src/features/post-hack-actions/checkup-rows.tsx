import type {
  CheckName,
  CheckOutcome,
  CheckupFinding,
  CheckupNote,
  CheckupResult,
  RemovedFile,
} from '@security-optimizer/contract/post-hack/checkup';
import type { ReactNode } from 'react';
import { siteDay } from '../../i18n/days.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/dom.js';
import { Icon, IconTile, type TileState } from '../../ui/icon.js';
import { safeHref } from '../../ui/safe-html.js';
import { recentTimeText, useSiteClock } from '../settings/site-clock.js';

const ICONS: Readonly<Record<CheckName, string>> = {
  core: 'file-x',
  administrators: 'user',
  uploads: 'file-x',
  plugins: 'plugin',
};
/** Icons of the facts of findings. */
const FACT_ICONS: Readonly<Record<CheckName, string>> = {
  core: 'clock',
  administrators: 'logout',
  uploads: 'clock',
  plugins: 'check',
};

/** A row of the result, with its buttons. */
function ResultRow(props: {
  readonly icon: string;
  readonly state: TileState;
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly buttons: ReactNode;
}) {
  return (
    <div className="so-row so-finding">
      <IconTile name={props.icon} state={props.state} />
      <div className="so-row__text">
        <h3>{props.title}</h3>
        {props.children}
      </div>
      <div className="so-row__ctl">
        <div className="so-row__btns">{props.buttons}</div>
      </div>
    </div>
  );
}

export interface FindingRowProps {
  readonly finding: CheckupFinding;
  readonly disabled: boolean;
  readonly keeping: boolean;
  readonly onKeep: () => void;
  readonly onReinstall: () => void;
  /** Asks before what was found is removed. */
  readonly onRemove: () => void;
}

/** A finding with its fix. Names are untrusted and shown as plain text. */
export function FindingRow({ finding, disabled, keeping, onKeep, onReinstall, onRemove }: FindingRowProps) {
  const { check, title, text, items, plugin, remove, link, link_text: linkText } = finding;
  // The dialog has the link to an administrator.
  const href = remove === 'administrator' ? null : toHref(link);
  return (
    <ResultRow
      icon={ICONS[check]}
      state="danger"
      title={
        <>
          <span>{title}</span>
          {finding.is_new === 1 ? (
            <span className="so-pill so-pill--info">{__('New', 'security-optimizer')}</span>
          ) : null}
        </>
      }
      buttons={
        <>
          <Button
            disabled={disabled}
            onClick={onKeep}
            pendingText={keeping ? __('Saving…', 'security-optimizer') : undefined}
            /* translators: %s: what was found */
            aria-label={sprintf(__('Keep: %s', 'security-optimizer'), title)}
          >
            {__('Keep', 'security-optimizer')}
          </Button>
          {plugin === '' ? null : (
            <Button
              disabled={disabled}
              onClick={onReinstall}
              /* translators: %s: what was found */
              aria-label={sprintf(__('Reinstall: %s', 'security-optimizer'), title)}
            >
              {__('Reinstall', 'security-optimizer')}
            </Button>
          )}
          {remove === '' ? null : (
            <Button
              disabled={disabled}
              onClick={onRemove}
              /* translators: %s: what was found */
              aria-label={sprintf(__('Remove: %s', 'security-optimizer'), title)}
            >
              {__('Remove', 'security-optimizer')}
            </Button>
          )}
          {href === null ? null : (
            <a className="so-btn" href={href}>
              {linkText || __('Open', 'security-optimizer')}
            </a>
          )}
        </>
      }
    >
      {text === '' ? null : <p>{text}</p>}
      <Items items={items} mono />
      <Fact finding={finding} />
    </ResultRow>
  );
}

/** The fact of a finding, if it has one. */
export function Fact({ finding: { check, fact } }: { readonly finding: CheckupFinding }) {
  if (fact === '') return null;
  return (
    <ul className="so-facts">
      <li>
        <Icon name={FACT_ICONS[check]} size={16} />
        {fact}
      </li>
    </ul>
  );
}

/** The URL of a link to a fix, or null if there is none that a browser may follow. */
export function toHref(link: string): string | null {
  return link === '' ? null : safeHref(link);
}

export interface MissingCheckRowProps {
  readonly outcome: CheckOutcome;
  readonly disabled: boolean;
  readonly onRetry: () => void;
}

/** A check that could not run. */
export function MissingCheckRow({ outcome: { title, text }, disabled, onRetry }: MissingCheckRowProps) {
  return (
    <ResultRow
      icon="alert"
      state="warn"
      title={<span>{title}</span>}
      buttons={
        <Button
          disabled={disabled}
          onClick={onRetry}
          /* translators: %s: what failed */
          aria-label={sprintf(__('Try again: %s', 'security-optimizer'), title)}
        >
          {__('Try again', 'security-optimizer')}
        </Button>
      }
    >
      <p>{text}</p>
    </ResultRow>
  );
}

type Kept = CheckupResult['kept'][number];

export interface KeptFindingsProps {
  readonly kept: readonly Kept[];
  readonly disabled: boolean;
  readonly onRelease: (kept: Kept) => void;
}

/** Findings that are marked as known, which can be unmarked. */
export function KeptFindings({ kept, disabled, onRelease }: KeptFindingsProps) {
  const clock = useSiteClock();
  return (
    <FoundList
      count={kept.length}
      /* translators: %d: number of findings */
      summary={sprintf(
        _n('%d known finding is left out', '%d known findings are left out', kept.length, 'security-optimizer'),
        kept.length,
      )}
    >
      {kept.map((one) => (
        <FoundItem
          key={one.key}
          title={one.title}
          /* translators: 1: username, 2: day and time */
          text={sprintf(__('Kept by %1$s, %2$s', 'security-optimizer'), one.by, recentTimeText(one.at, clock))}
          button={
            <Button
              small
              disabled={disabled}
              onClick={() => onRelease(one)}
              /* translators: %s: what was found */
              aria-label={sprintf(__('Undo: %s', 'security-optimizer'), one.title)}
            >
              {__('Undo', 'security-optimizer')}
            </Button>
          }
        />
      ))}
    </FoundList>
  );
}

export interface RemovedFilesProps {
  readonly removed: readonly RemovedFile[];
  readonly disabled: boolean;
  /** The file that is being restored, by its id. */
  readonly restoring: string | null | undefined;
  readonly onRestore: (file: RemovedFile) => void;
}

/** Files that were removed and whose copies are kept. They can be restored. */
export function RemovedFiles({ removed, disabled, restoring, onRestore }: RemovedFilesProps) {
  const clock = useSiteClock();
  return (
    <FoundList
      count={removed.length}
      className="so-removed"
      /* translators: %d: number of files */
      summary={sprintf(
        _n('%d removed file is kept', '%d removed files are kept', removed.length, 'security-optimizer'),
        removed.length,
      )}
    >
      {removed.map((one) => (
        <FoundItem
          key={one.id}
          title={<FileName name={one.file} />}
          text={sprintf(
            /* translators: 1: username, 2: day and time, 3: a day */
            __('Removed by %1$s, %2$s. The copy is deleted on %3$s.', 'security-optimizer'),
            one.by,
            recentTimeText(one.at, clock),
            clock.formats.dayOfMonth(siteDay(clock.zone, one.until)),
          )}
          button={
            <Button
              small
              disabled={disabled}
              onClick={() => onRestore(one)}
              pendingText={restoring === one.id ? __('Saving…', 'security-optimizer') : undefined}
              /* translators: %s: a file */
              aria-label={sprintf(__('Restore: %s', 'security-optimizer'), one.file)}
            >
              {__('Restore', 'security-optimizer')}
            </Button>
          }
        />
      ))}
    </FoundList>
  );
}

/** The name of a file, which is untrusted. */
export function FileName({ name }: { readonly name: string | undefined }) {
  return (
    <bdi className="so-mono" dir="ltr">
      {name}
    </bdi>
  );
}

/** Information that is not a finding. */
export function Notes({ notes }: { readonly notes: readonly CheckupNote[] }) {
  return (
    <FoundList
      count={notes.length}
      /* translators: %d: number of entries */
      summary={sprintf(
        _n('%d more thing to know', '%d more things to know', notes.length, 'security-optimizer'),
        notes.length,
      )}
    >
      {notes.map((note) => {
        const href = toHref(note.link);
        return (
          <FoundItem key={note.id} title={note.title} text={note.text}>
            <Items items={note.items} />
            {href === null ? null : (
              <p>
                <a className="so-link" href={href}>
                  {note.link_text || __('Open', 'security-optimizer')}
                </a>
              </p>
            )}
          </FoundItem>
        );
      })}
    </FoundList>
  );
}

/** Entries that are shown on demand; nothing if there are none. */
function FoundList(props: {
  readonly count: number;
  readonly summary: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const { count, summary, className, children } = props;
  if (count === 0) return null;
  return (
    <details className={classes('so-found so-card__sep', className)}>
      <summary>{summary}</summary>
      <ul>{children}</ul>
    </details>
  );
}

function FoundItem(props: {
  readonly title: ReactNode;
  readonly text: string;
  readonly button?: ReactNode;
  readonly children?: ReactNode;
}) {
  const { title, text, button, children } = props;
  return (
    <li className="so-found__one">
      <div>
        <b>{title}</b>
        {text === '' ? null : <p className="so-muted">{text}</p>}
        {children}
      </div>
      {button}
    </li>
  );
}

/** Number of items shown at first; the others are shown on demand. */
const SHOWN = 5;

function Items({ items, mono = false }: { readonly items: readonly string[]; readonly mono?: boolean }) {
  if (items.length === 0) return null;
  const rest = items.slice(SHOWN);
  return (
    <>
      <ItemList items={items.slice(0, SHOWN)} mono={mono} />
      {rest.length === 0 ? null : (
        <details>
          <summary>
            {sprintf(
              /* translators: %d: number of entries that are not shown yet */
              _n('%d more', '%d more', rest.length, 'security-optimizer'),
              rest.length,
            )}
          </summary>
          <ItemList items={rest} mono={mono} />
        </details>
      )}
    </>
  );
}

function ItemList({ items, mono }: { readonly items: readonly string[]; readonly mono: boolean }) {
  return (
    <ul className="so-found__items">
      {items.map((item) => (
        <li key={item}>
          <bdi className={mono ? 'so-mono' : undefined} dir={mono ? 'ltr' : undefined}>
            {item}
          </bdi>
        </li>
      ))}
    </ul>
  );
}
