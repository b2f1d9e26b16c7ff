import type { ErrorCode } from '@security-optimizer/contract/errors';
import { type ServerText, toEnglish } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { ApiError } from '../lib/api-error.js';
import { plainText } from '../lib/plain-text.js';
import type { CommandRedirect } from '../site.js';

const CAUSE_MAX = 200;

/** Why a command could not be carried out. */
export type ConnectorFault =
  | {
      readonly kind: 'missing';
      /** WordPress redirects to its installation. It loads no plugin before that is done. */
      readonly notSetUp?: true;
      /** The requested host, where WordPress has never reported its own: another site may have responded. */
      readonly host?: string;
    }
  | { readonly kind: 'other_secret'; readonly keyId: string }
  /** `cause` in plain English, for example `connection refused`. */
  | {
      readonly kind: 'unreachable';
      readonly cause: string;
      /** The connector responded, but does not have the command. */
      readonly outdated?: true;
      /** The web server responded in place of WordPress, with this status. */
      readonly status?: number;
      /** The redirect with which the web server behind guard responded. */
      readonly redirect?: CommandRedirect;
    };

const codes = {
  missing: 'connector_missing',
  other_secret: 'connector_other_secret',
  unreachable: 'wordpress_unreachable',
} as const;

function toCode(fault: ConnectorFault): ErrorCode {
  if (fault.kind !== 'unreachable') return codes[fault.kind];
  if (fault.outdated) return 'connector_outdated';
  return fault.redirect === undefined ? codes.unreachable : 'connector_redirected';
}

/**
 * A command that WordPress did not carry out, as far as guard can know. API responses contain the text of its code; the
 * log and the command line show `detail`.
 */
export class ConnectorError extends ApiError {
  readonly fault: ConnectorFault;
  readonly detail: string;
  /** The detail, translatable for the owner. */
  readonly explanation: ServerText;
  /** The command reached WordPress, but the response was lost: WordPress may have carried it out. */
  readonly mayBeDone: boolean;

  constructor(fault: ConnectorFault, options: { cause?: unknown; mayBeDone?: boolean } = {}) {
    const explanation = describeConnectorFault(fault);
    const detail = toEnglish(explanation);
    super(toCode(fault), { cause: new Error(detail, { cause: options.cause }) });
    this.name = 'ConnectorError';
    this.fault = fault;
    this.detail = detail;
    this.explanation = explanation;
    this.mayBeDone = options.mayBeDone ?? false;
  }
}

/** Whether an error shows that WordPress responded and that no connector with guard's key runs in it. */
export function isConnectorMissing(error: unknown): boolean {
  return error instanceof ConnectorError && error.fault.kind !== 'unreachable';
}

/** Describes a fault in one sentence, for the log and the status. */
export function describeConnectorFault(fault: ConnectorFault): ServerText {
  switch (fault.kind) {
    case 'missing':
      return fault.host === undefined
        ? 'WordPress answers, but the connector plugin is missing in it.'
        : serverMessage('connector_missing_at', { host: plainText(fault.host, CAUSE_MAX) });
    case 'other_secret':
      return serverMessage('connector_other_secret_key', { key: fault.keyId });
    case 'unreachable':
      if (fault.redirect !== undefined) return describeRedirect(fault.redirect);
      return serverMessage('connector_fault', { cause: plainText(fault.cause, CAUSE_MAX) });
  }
}

/** Names the target of a redirect and how to fix the configuration. */
function describeRedirect({ from, target, to }: CommandRedirect): ServerText {
  switch (to) {
    case 'scheme':
      return serverMessage('connector_redirected_by_scheme', { target });
    case 'host':
      return serverMessage('connector_redirected_to_host', { host: from, target });
    case 'elsewhere':
      return serverMessage('connector_redirected', { host: from, target });
  }
}
