import { useEffect, useRef } from 'react';
import { classes } from '../../components/classes.js';
import { ErrorText } from '../../components/error-text.js';
import type { Messages } from '../../forms/use-form-errors.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Icon } from '../../icons/icon.js';
import type { AccessRows } from './use-access-rows.js';

export interface AccessListProps {
  readonly list: AccessRows;
  readonly labelledBy: string;
  readonly errors: Messages;
  readonly onTouch: (key: string) => void;
}

/** One field for each row, with a bin. */
export function AccessList({ list, labelledBy, errors, onTouch }: AccessListProps) {
  const element = useRef<HTMLUListElement>(null);

  useEffect(() => {
    if (list.focus !== null) element.current?.querySelector<HTMLElement>(`#${list.focus.key}`)?.focus();
  }, [list.focus]);

  let number = 0;
  return (
    <ul className="so-iplist" aria-labelledby={labelledBy} ref={element}>
      {list.drawn.map(({ key, text, leaving }) => {
        if (leaving) {
          return (
            <li key={key} className="is-leaving" aria-hidden="true">
              <div className="so-field">
                <span className="so-input so-mono">{text}</span>
              </div>
            </li>
          );
        }
        number += 1;
        const error = errors[key];
        return (
          <li key={key}>
            <div className={classes('so-field', error !== undefined && 'has-error')}>
              <input
                id={key}
                className="so-input so-mono"
                type="text"
                dir="ltr"
                autoComplete="off"
                autoCapitalize="off"
                spellCheck={false}
                placeholder={__('IP address', 'security-optimizer')}
                /* translators: %d: number of the row */
                aria-label={sprintf(__('IP address %d', 'security-optimizer'), number)}
                aria-invalid={error === undefined ? undefined : true}
                aria-describedby={error === undefined ? undefined : `${key}-error`}
                value={text}
                onChange={(event) => {
                  list.edit(key, event.target.value);
                  onTouch(key);
                }}
              />
              {error === undefined ? null : <ErrorText id={`${key}-error`}>{error}</ErrorText>}
            </div>
            <button
              type="button"
              className="so-iconbtn"
              aria-label={
                text.trim() === ''
                  ? __('Remove this row', 'security-optimizer')
                  : /* translators: %s: an IP address */
                    sprintf(__('Remove %s', 'security-optimizer'), text)
              }
              onClick={() => list.remove(key)}
            >
              <Icon name="trash" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
