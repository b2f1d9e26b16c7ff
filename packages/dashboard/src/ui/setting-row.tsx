import { type ReactNode, type Ref, useEffect, useId, useRef } from 'react';
import { __ } from '../i18n/translate.js';
import { classes } from './dom.js';
import { Icon, IconTile, type TileState } from './icon.js';
import { ErrorText } from './inline-messages.js';

export interface SettingRowProps {
  /** Prefix of the ids of title, help and tag: `-title`, `-help`, `-tag`. */
  readonly id: string;
  /** Hash in the page's address that focuses this row. */
  readonly anchor?: string | undefined;
  readonly icon: string;
  readonly state: TileState;
  readonly title: string;
  readonly help: ReactNode;
  readonly recommended?: boolean;
  readonly pending?: boolean;
  /** The control is a switch and stays beside the title on phones. */
  readonly withSwitch?: boolean;
  /** Error of the last change, in one sentence. */
  readonly error?: string | undefined;
  readonly onRetry?: () => void;
  /** One line below the help: the value of the setting, then at most two actions. */
  readonly value?: ReactNode;
  /** Shown below the help: a consequence of the setting. */
  readonly note?: ReactNode;
  /** The control. */
  readonly children: ReactNode;
}

/** A setting: icon, title, what it does, and its control. */
export function SettingRow(props: SettingRowProps) {
  const { id, icon, state, title, help, recommended = false, pending = false, withSwitch = false, error } = props;
  return (
    <div
      data-anchor={props.anchor}
      className={classes(
        'so-row',
        withSwitch && 'so-row--switch',
        pending && 'is-busy',
        Boolean(props.note) && 'so-row--top',
      )}
    >
      <IconTile name={icon} state={state} />
      <div className="so-row__text">
        <h3>
          <span id={`${id}-title`}>{title}</span>
          {recommended ? (
            <>
              {' '}
              <span className="so-tag" id={`${id}-tag`}>
                {__('recommended', 'security-optimizer')}
              </span>
            </>
          ) : null}
        </h3>
        <p id={`${id}-help`}>{help}</p>
        {props.value ? <div className="so-val">{props.value}</div> : null}
        {props.note ? <div className="so-row__note">{props.note}</div> : null}
        {error !== undefined ? (
          <ErrorText>
            {error}{' '}
            <button type="button" className="so-link" onClick={props.onRetry}>
              {__('Try again', 'security-optimizer')}
            </button>
          </ErrorText>
        ) : null}
      </div>
      <div className="so-row__ctl">{props.children}</div>
    </div>
  );
}

export interface ToggleRowProps {
  /** Hash in the page's address that focuses this row. */
  readonly anchor?: string;
  readonly icon: string;
  readonly title: string;
  readonly help: ReactNode;
  readonly on: boolean;
  readonly pending: boolean;
  readonly recommended: boolean;
  readonly disabled?: boolean;
  /** State of the tile. Default: the state of the switch. */
  readonly tile?: TileState | undefined;
  readonly value?: ReactNode;
  /** Error of the last change, in one sentence. */
  readonly error?: string | undefined;
  readonly onToggle: () => void;
  readonly onRetry: () => void;
}

/** A setting with a switch that shows whether its change is pending, saved or failed. */
export function ToggleRow(props: ToggleRowProps) {
  const { icon, title, help, on, pending, recommended, disabled = false, error, onToggle, onRetry } = props;
  const id = useId();
  const control = useRef<HTMLButtonElement>(null);

  function retry(): void {
    // The retry button disappears with the message, so move the focus first.
    control.current?.focus();
    onRetry();
  }

  return (
    <SettingRow
      id={id}
      anchor={props.anchor}
      icon={icon}
      state={props.tile ?? (on ? 'on' : 'off')}
      title={title}
      help={help}
      recommended={recommended}
      pending={pending}
      withSwitch
      value={props.value}
      error={error}
      onRetry={retry}
    >
      <Switch
        ref={control}
        on={on}
        pending={pending}
        disabled={disabled}
        labelledBy={`${id}-title`}
        describedBy={recommended ? `${id}-tag ${id}-help` : `${id}-help`}
        onToggle={onToggle}
      />
    </SettingRow>
  );
}

/** Placeholder of a `ToggleRow`, with the same height. */
export function ToggleRowSkeleton() {
  return (
    <div className="so-row so-row--switch so-row--sk" aria-hidden="true">
      <span className="so-sk so-sk--tile" />
      <div className="so-row__text">
        <span className="so-sk so-sk--title" />
        <span className="so-sk so-sk--help" />
      </div>
      <div className="so-row__ctl">
        <span className="so-sk so-sk--switch" />
      </div>
    </div>
  );
}

export interface SwitchProps {
  readonly on: boolean;
  /** The new value is being saved; the switch shows it already and ignores clicks. */
  readonly pending?: boolean;
  readonly disabled?: boolean;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly onToggle: () => void;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Switch({ on, pending = false, disabled, labelledBy, describedBy, onToggle, ref }: SwitchProps) {
  return (
    <button
      ref={ref}
      type="button"
      role="switch"
      className={classes('so-switch', on && 'is-on', pending && 'is-busy')}
      aria-checked={on}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      aria-busy={pending || undefined}
      disabled={disabled}
      onClick={pending ? undefined : onToggle}
    >
      <span className="so-switch__state" aria-hidden="true">
        {stateWord(on, pending)}
      </span>
      <span className="so-switch__track">
        <span className="so-switch__knob">
          {pending ? <span className="so-spin" /> : <Icon name="check" stroke={2.6} />}
        </span>
      </span>
    </button>
  );
}

function stateWord(on: boolean, pending: boolean): string {
  if (pending) return __('Saving…', 'security-optimizer');
  return on ? __('On', 'security-optimizer') : __('Off', 'security-optimizer');
}

/**
 * Handles the hash of the page's address, so that a link can open a dialog or focus a row. A hash that `open` does not
 * handle focuses the row with this anchor. The hash is then removed, so that a reload does not repeat it.
 *
 * @param ready whether the page is complete
 * @param open handles a hash, given without `#`; returns whether it did
 */
export function useHashTarget(ready: boolean, open: (hash: string) => boolean): void {
  const latest = useRef(open);
  latest.current = open;

  useEffect(() => {
    if (!ready) return;
    function lead(): void {
      const hash = window.location.hash.slice(1);
      if (!/^[a-z0-9-]+$/.test(hash)) return;
      if (!latest.current(hash) && !focusRow(hash)) return;
      const { pathname, search } = window.location;
      window.history.replaceState(window.history.state, '', pathname + search);
    }
    lead();
    window.addEventListener('hashchange', lead);
    return () => window.removeEventListener('hashchange', lead);
  }, [ready]);
}

function focusRow(anchor: string): boolean {
  const row = document.querySelector(`[data-anchor="${anchor}"]`);
  const control = row?.querySelector<HTMLElement>('[role="switch"], select, .so-row__ctl button');
  if (!control) return false;
  control.focus();
  row?.scrollIntoView?.({ block: 'center' });
  return true;
}
