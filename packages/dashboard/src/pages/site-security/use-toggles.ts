import type { SecurityField, SiteSecurityToggle } from '@security-optimizer/contract/protections';
import { translate } from '../../i18n/translate.js';
import { securityOptions } from '../../options/options-source.js';
import type { KnownOptions } from '../../options/read-security-options.js';
import { type Changes, useChanges } from '../../options/use-changes.js';

export type Toggle = SiteSecurityToggle & { readonly field: SecurityField };

/** Name under which the change of an option is tracked; the same as in the contract's table of endpoints. */
export function toggleRequestName(field: string): string {
  return `update:${field}`;
}

/** Switches options of Site Security on and off. */
export function useToggles(store: (change: KnownOptions) => void): {
  readonly changes: Changes<KnownOptions>;
  readonly change: (toggle: Toggle, wanted: 0 | 1) => void;
} {
  const { changes, change } = useChanges<KnownOptions>(securityOptions, store);
  return {
    changes,
    change: (toggle, wanted) =>
      change({
        name: toggleRequestName(toggle.field),
        call: { suffix: toggle.suffix, body: { [toggle.field]: wanted } },
        wanted: { [toggle.field]: wanted },
        successText: (stored, message) => {
          const usual = stored[toggle.field] === 1 ? toggle.messages.on : toggle.messages.off;
          // When the server has something else to say, such as what it could not do, the usual text would contradict it.
          return message === '' || message === usual ? translate(usual) : '';
        },
      }),
  };
}
