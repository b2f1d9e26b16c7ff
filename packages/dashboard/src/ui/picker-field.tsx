import { type FocusEvent, type KeyboardEvent, type ReactNode, type RefObject, useId, useRef, useState } from 'react';
import { AffixInput, Field } from './field.js';
import { Icon } from './icon.js';

export interface PickerFieldProps {
  readonly label: string;
  readonly icon: string;
  readonly placeholder: string;
  /** Text of the chosen value, or ''. */
  readonly text: string;
  readonly error: string | undefined;
  /** The popup. `close` returns the focus to the field. */
  readonly children: (picker: { readonly id: string; readonly close: () => void }) => ReactNode;
}

/**
 * State of a popup below a field. Click, Enter, Space and arrow down open it; Escape and moving the focus away close
 * it.
 */
export function PickerField({ label, icon, placeholder, text, error, children }: PickerFieldProps) {
  const drop = usePopup();
  const id = useId();
  return (
    <div className="so-anchor" ref={drop.anchor} {...drop.anchorProps}>
      <Field label={label} error={error}>
        {(control) => (
          <AffixInput
            {...control}
            {...drop.fieldProps}
            ref={drop.field}
            affix={<Icon name={icon} />}
            isIcon
            readOnly
            role="combobox"
            aria-haspopup="dialog"
            aria-expanded={drop.open}
            aria-controls={drop.open ? id : undefined}
            placeholder={placeholder}
            value={text}
          />
        )}
      </Field>
      {drop.open ? children({ id, close: drop.close }) : null}
    </div>
  );
}

interface Popup {
  readonly open: boolean;
  /** Contains the field and the popup. */
  readonly anchor: RefObject<HTMLDivElement | null>;
  readonly field: RefObject<HTMLInputElement | null>;
  /** Closes the popup and focuses the field. */
  readonly close: () => void;
  readonly anchorProps: {
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onBlur: (event: FocusEvent) => void;
  };
  readonly fieldProps: {
    readonly onClick: () => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
}

/**
 * State of a popup below a field. Click, Enter, Space and arrow down open it; Escape and moving the focus away close
 * it.
 */
function usePopup(): Popup {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);

  function close(): void {
    field.current?.focus();
    setOpen(false);
  }

  return {
    open,
    anchor,
    field,
    close,
    anchorProps: {
      onKeyDown(event) {
        if (event.key !== 'Escape' || !open) return;
        // Keep the dialog around it open.
        event.stopPropagation();
        close();
      },
      onBlur(event) {
        const next = event.relatedTarget;
        if (next instanceof Node && !anchor.current?.contains(next)) setOpen(false);
      },
    },
    fieldProps: {
      onClick: () => setOpen((before) => !before),
      onKeyDown(event) {
        if (event.key !== 'Enter' && event.key !== ' ' && event.key !== 'ArrowDown') return;
        event.preventDefault();
        setOpen(true);
      },
    },
  };
}
