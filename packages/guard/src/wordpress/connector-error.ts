import { ApiError } from '../lib/api-error.js';
import { english } from '../texts/language.js';

/** Why a command could not be carried out. */
export type ConnectorFault =
  | { readonly kind: 'missing' }
  | { readonly kind: 'other_secret'; readonly keyId: string }
  /** `cause` in plain words, for example `connection refused`. */
  | {
      readonly kind: 'unreachable';
      readonly cause: string;
      /** The connector is there and knows no such command. */
      readonly outdated?: true;
    };

const codes = {
  missing: 'connector_missing',
  other_secret: 'connector_other_secret',
  unreachable: 'wordpress_unreachable',
} as const;

/**
 * A command that WordPress did not carry out, as far as guard can know. A caller of the API gets the text of its
 * code, log and command line get `detail`.
 */
export class ConnectorError extends ApiError {
  readonly fault: ConnectorFault;
  readonly detail: string;
  /** The command reached WordPress and the answer got lost: it may have been carried out. */
  readonly mayBeDone: boolean;

  constructor(fault: ConnectorFault, options: { cause?: unknown; mayBeDone?: boolean } = {}) {
    const detail = describeFault(fault);
    const outdated = fault.kind === 'unreachable' && fault.outdated === true;
    super(outdated ? 'connector_outdated' : codes[fault.kind], { cause: new Error(detail, { cause: options.cause }) });
    this.name = 'ConnectorError';
    this.fault = fault;
    this.detail = detail;
    this.mayBeDone = options.mayBeDone ?? false;
  }
}

/** One sentence about a fault, for log and status. */
export function describeFault(fault: ConnectorFault): string {
  switch (fault.kind) {
    case 'missing':
      return english.translate('WordPress answers, but the connector plugin is missing in it.');
    case 'other_secret':
      return english.translate('The connector plugin has another secret (key {key}).', { key: fault.keyId });
    case 'unreachable':
      return english.translate('WordPress does not carry out commands: {cause}.', { cause: fault.cause });
  }
}
