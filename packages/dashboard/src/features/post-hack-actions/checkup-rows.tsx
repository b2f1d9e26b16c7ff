import type {
  CheckName,
  CheckOutcome,
  CheckupFinding,
  CheckupNote,
  CheckupResult,
} from '@security-optimizer/contract/post-hack/checkup';
import type { ReactNode } from 'react';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { Icon, IconTile, type TileState } from '../../ui/icon.js';
import { safeHref } from '../../ui/safe-html.js';
import { useMoment } from './checkup-data.js';

const ICONS: Readonly<Record<CheckName, string>> = {
  core: 'file-x',
  administrators: 'user',
  uploads: 'file-x',
  plugins: 'plugin',
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
}

/** A finding with its fix. Names are untrusted and shown as plain text. */
export function FindingRow({ finding, disabled, keeping, onKeep, onReinstall }: FindingRowProps) {
  const { check, title, text, fact, items, plugin, link_text: linkText } = finding;
  const href = finding.link === '' ? null : safeHref(finding.link);
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
      {fact === '' ? null : (
        <ul className="so-facts">
          <li>
            <Icon name={check === 'administrators' ? 'logout' : 'check'} size={16} />
            {fact}
          </li>
        </ul>
      )}
    </ResultRow>
  );
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
  const moment = useMoment();
  if (kept.length === 0) return null;
  return (
    <details className="so-found so-card__sep">
      <summary>
        {sprintf(
          /* translators: %d: number of findings */
          _n('%d known finding is left out', '%d known findings are left out', kept.length, 'security-optimizer'),
          kept.length,
        )}
      </summary>
      <ul>
        {kept.map((one) => (
          <li key={one.key} className="so-found__one">
            <div>
              <b>{one.title}</b>
              <p className="so-muted">
                {/* translators: 1: username, 2: day and time */}
                {sprintf(__('Kept by %1$s, %2$s', 'security-optimizer'), one.by, moment(one.at))}
              </p>
            </div>
            <Button
              small
              disabled={disabled}
              onClick={() => onRelease(one)}
              /* translators: %s: what was found */
              aria-label={sprintf(__('Undo: %s', 'security-optimizer'), one.title)}
            >
              {__('Undo', 'security-optimizer')}
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Information that is not a finding. */
export function Notes({ notes }: { readonly notes: readonly CheckupNote[] }) {
  if (notes.length === 0) return null;
  return (
    <details className="so-found so-card__sep">
      <summary>
        {sprintf(
          /* translators: %d: number of entries */
          _n('%d more thing to know', '%d more things to know', notes.length, 'security-optimizer'),
          notes.length,
        )}
      </summary>
      <ul>
        {notes.map((note) => {
          const href = note.link === '' ? null : safeHref(note.link);
          return (
            <li key={note.id} className="so-found__one">
              <div>
                <b>{note.title}</b>
                {note.text === '' ? null : <p className="so-muted">{note.text}</p>}
                <Items items={note.items} />
                {href === null ? null : (
                  <p>
                    <a className="so-link" href={href}>
                      {note.link_text || __('Open', 'security-optimizer')}
                    </a>
                  </p>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </details>
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
