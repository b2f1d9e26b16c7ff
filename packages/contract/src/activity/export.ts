import * as z from 'zod/mini';
import { messages } from '../messages.js';
import { toggleValue } from '../shapes.js';
import { visitPresets } from './schemas.js';

/** An endpoint that responds with a file. Errors use the envelope, as in every endpoint. */
export interface Download<Request extends z.ZodMiniType = z.ZodMiniType, Name extends string = string> {
  readonly name: Name;
  readonly suffix: string;
  readonly summary: string;
  /** Query parameters. */
  readonly request: Request;
  /** Description of the file for the API reference. */
  readonly content: string;
}

const text = z.string().check(z.maxLength(200, messages.invalidFormat));

export const activityExport = {
  name: 'activityExport',
  suffix: '/activity-export',
  summary:
    'Every row of a list that matches the filters, newest first. Filters are plain query parameters, so that a ' +
    'link can contain them. A link also needs the nonce as `_wpnonce`.',
  request: z.object({
    list: z.enum(['unknown', 'registered'], { error: 'Use unknown or registered.' }),
    format: z._default(z.enum(['csv', 'json'], { error: 'Use csv or json.' }), 'csv'),
    /** Unix seconds. */
    from: z.optional(text),
    /** Unix seconds; the whole day is included unless `exact` is 1. */
    to: z.optional(text),
    exact: z.optional(toggleValue),
    /** For `unknown`. */
    type: z.optional(text),
    code: z.optional(text),
    ip: z.optional(text),
    /** One of `visitPresets`, and one of `attackGoals`. */
    preset: z.optional(z.enum(visitPresets, { error: `Use ${visitPresets.join(', ')}.` })),
    goal: z.optional(text),
    /** For both lists: as in a list request. */
    search: z.optional(text),
    /** For `registered`: the visitor id of the user, and the id of the kind. */
    user: z.optional(text),
    activity: z.optional(text),
  }),
  content:
    '`text/csv` (RFC 4180, UTF-8 with a byte order mark and a header row) or `application/json` (a list of objects), as an ' +
    'attachment without the envelope. In CSV a cell that a spreadsheet would interpret as a formula begins with an ' +
    'apostrophe, and control characters are written as `\\u000a`. The file is streamed. If reading the log fails, the ' +
    'connection is closed before the end, so that a client can detect an incomplete file.',
} as const satisfies Download;

/** All endpoints that respond with a file. */
export const downloads = [activityExport] as const;
