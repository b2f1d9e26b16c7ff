import type { ReactNode } from 'react';
import { __ } from '../i18n/translate.js';
import { classes } from './classes.js';
import { ErrorText } from './error-text.js';
import { IconTile, type TileState } from './icon-tile.js';

export interface SettingRowProps {
  /** Title, help and tag get this with `-title`, `-help` and `-tag`, for the control to name. */
  readonly id: string;
  /** A hash of the page's address that leads here. */
  readonly anchor?: string | undefined;
  readonly icon: string;
  readonly state: TileState;
  readonly title: string;
  readonly help: ReactNode;
  readonly recommended?: boolean;
  readonly pending?: boolean;
  /** The control is a switch: on phones it stays beside the title. */
  readonly withSwitch?: boolean;
  /** What went wrong with the last change, in one sentence. */
  readonly error?: string | undefined;
  readonly onRetry?: () => void;
  /** What follows from the setting as it is, below its help. */
  readonly note?: ReactNode;
  /** The control at the end of the row. */
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
