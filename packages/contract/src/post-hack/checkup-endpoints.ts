import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { settingEndpoints } from '../settings/endpoints.js';
import { toggleValue } from '../shapes.js';
import { checkupSchema } from './checkup.js';

/** Endpoints of the checkup. */
export const checkupEndpoints = [
  endpoint({
    name: 'checkup',
    suffix: '/checkup',
    methods: ['POST', 'GET'],
    summary:
      'The result of the latest checkup for traces of a break-in, earlier ones (`all`: 1 for all of them), and the ' +
      'progress of a running one.',
    request: z.object({ all: z.optional(toggleValue) }),
    response: checkupSchema,
  }),
  endpoint({
    name: 'runCheckup',
    suffix: '/run-checkup',
    methods: ['POST'],
    summary:
      'Search for traces of a break-in in core files, administrators, uploads and plugins, without changing ' +
      'anything. It continues if the page is closed; a second start joins the running checkup.',
    request: z.object({}),
    response: checkupSchema,
  }),
  endpoint({
    name: 'keepFinding',
    suffix: '/keep-finding',
    methods: ['POST'],
    summary: 'Mark a finding of the latest checkup as known (1), so that it is omitted from now on, or unmark it (0).',
    request: z.object({ key: z.string().check(z.minLength(1), z.maxLength(300)), keep: toggleValue }),
    response: checkupSchema,
  }),
  ...settingEndpoints('postHack'),
] as const;
