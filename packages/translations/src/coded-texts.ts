import { serverMessages } from '@security-optimizer/contract/server-messages';

/** A text of the server that is sent as code and parameters. */
export interface CodedText {
  readonly code: string;
  readonly text: string;
  readonly plural: string | null;
}

/** The contract's table of these texts, one row for each code. */
export const codedTexts: readonly CodedText[] = Object.entries(serverMessages).map(([code, message]) =>
  typeof message === 'string'
    ? { code, text: message, plural: null }
    : { code, text: message.one, plural: message.other },
);
