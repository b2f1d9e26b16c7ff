import type { SecurityField, SiteSecurityToggle } from '@security-optimizer/contract/protections';
import { weakenedNotice } from '../../api/notices.js';
import { type Changes, type KnownOptions, securityOptions, useChanges } from '../../api/options.js';
import { translate } from '../../i18n/translate.js';

export type Toggle = SiteSecurityToggle & { readonly field: SecurityField };

/** Request name of an option; equals the contract's endpoint name. */
export function toggleRequestName(field: string): string {
  return `update:${field}`;
}

/** Mutations of the switches of Site Security. */
export function useToggles(store: (change: KnownOptions) => void): {
  readonly changes: Changes<KnownOptions>;
  readonly change: (toggle: Toggle, wanted: 0 | 1) => void;
} {
  const { changes, change } = useChanges<KnownOptions>(securityOptions, store);
  function toText({ messages: { on, off } }: Toggle, value: 0 | 1 | undefined, message: string): string {
    const usual = value === 1 ? on : off;
    // A different message of the server, for example about a partial failure, would contradict the usual text.
    return message === '' || message === usual ? translate(usual) : '';
  }

  function set(toggle: Toggle, wanted: 0 | 1): void {
    const { field } = toggle;
    change({
      name: toggleRequestName(field),
      call: { suffix: toggle.suffix, body: { [field]: wanted } },
      target: { [field]: wanted },
      successText: (stored, message) => toText(toggle, stored[field], message),
      ...(wanted === 0 && {
        successNotice: (stored, message) =>
          weakenedNotice(toText(toggle, stored[field], message) || translate(message), () => set(toggle, 1)),
      }),
    });
  }

  return { changes, change: set };
}
