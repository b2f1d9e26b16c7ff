import { type InputHTMLAttributes, type ReactNode, type Ref, useState } from 'react';
import { classes } from '../components/classes.js';

export interface AffixInputProps extends InputHTMLAttributes<HTMLInputElement> {
  /** The fixed part in front: the site's address, or an icon. */
  readonly affix: ReactNode;
  readonly isIcon?: boolean;
  readonly ref?: Ref<HTMLInputElement>;
}

/** A text input with a fixed part in front. `:focus-within` is done in script, since old browsers lack it. */
export function AffixInput({ affix, isIcon = false, ...input }: AffixInputProps) {
  const [focused, setFocused] = useState(false);
  return (
    <div
      className={classes(
        'so-affix',
        isIcon && 'so-affix--icon',
        (focused || input['aria-expanded'] === true) && 'is-focus',
      )}
    >
      <span dir={isIcon ? undefined : 'ltr'}>{affix}</span>
      <input
        type="text"
        {...input}
        className="so-input"
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      />
    </div>
  );
}
