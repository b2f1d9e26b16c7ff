import { z } from 'zod';
import { messages } from './messages.js';
import { toggleValue } from './settings.js';

/** A call that answers with a file. A refused one is answered with the envelope like every other. */
export interface Download<Request extends z.ZodType = z.ZodType, Name extends string = string> {
  readonly name: Name;
  readonly suffix: string;
  readonly summary: string;
  /** Query parameters. */
  readonly request: Request;
  /** What is in the file, for the reference. */
  readonly answer: string;
}

const text = z.string().max(200, messages.invalidFormat);

export const activityExport = {
  name: 'activityExport',
  suffix: '/activity-export',
  summary:
    'Every row of a list that the filters match, newest first. Filters stand as plain parameters, so that a link can ' +
    'hold them; a link also needs the nonce as `_wpnonce`.',
  request: z.object({
    list: z.enum(['unknown', 'registered'], { error: 'Use unknown or registered.' }),
    format: z.enum(['csv', 'json'], { error: 'Use csv or json.' }).default('csv'),
    /** Unix seconds. */
    from: text.optional(),
    /** Unix seconds; means the whole of its day unless `exact` is 1. */
    to: text.optional(),
    exact: toggleValue.optional(),
    /** For `unknown`. */
    type: text.optional(),
    code: text.optional(),
    ip: text.optional(),
    /** For `registered`: visitor id of the user, and id of the kind. */
    user: text.optional(),
    activity: text.optional(),
  }),
  answer:
    '`text/csv` (RFC 4180, UTF-8 with a byte order mark, a line of names first; a cell that a spreadsheet would take for ' +
    'a formula begins with an apostrophe; control characters are written as `\\u000a`) or `application/json` (a list of ' +
    'objects), as an attachment and without envelope. It is written while it is read; when the log fails in the middle ' +
    'the connection is cut, so that half a file is never taken for a whole one.',
} as const satisfies Download;

/** Every call that answers with a file. */
export const downloads = [activityExport] as const;
