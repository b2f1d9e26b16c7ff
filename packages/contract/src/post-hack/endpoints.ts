import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';

/** The three actions, in the order of the page. */
export const JOB_KINDS = ['reinstall-plugins', 'force-password-reset', 'log-out-users'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

const jobItem = z.object({
  /** Unique within the job, for example a plugin's file. */
  id: z.string(),
  name: z.string(),
  version: z.string(),
  /** `unchecked`: the plugin directory could not be reached, so nothing was changed. */
  state: z.enum(['waiting', 'running', 'done', 'failed', 'unchecked', 'skipped']),
  /** A sentence; may be empty. */
  reason: z.string(),
  /** Files of the old copy that the clean copy does not have. */
  files: z.array(z.string()),
});

export const job = z.object({
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(['running', 'done', 'stopped']),
  /** Unix seconds. */
  started: z.int(),
  ended: z.nullable(z.int()),
  /** Login of the user who started it. */
  actor: z.string(),
  done: z.int(),
  /** Number of steps; 0 while unknown. */
  total: z.int(),
  items: z.array(jobItem),
  /** The result, in sentences. */
  summary: z.array(z.string()),
  /** Why the job stopped; otherwise empty. */
  error: z.string(),
});
export type Job = z.infer<typeof job>;
export type JobItem = z.infer<typeof jobItem>;

const started = z.object({ job });

export const reinstallPlugins = endpoint({
  name: 'reinstallPlugins',
  suffix: '/reinstall-plugins',
  methods: ['POST'],
  response: started,
});

export const forcePasswordReset = endpoint({
  name: 'forcePasswordReset',
  suffix: '/force-password-reset',
  methods: ['POST'],
  response: started,
});

export const logOutUsers = endpoint({
  name: 'logOutUsers',
  suffix: '/logout-users',
  methods: ['POST'],
  response: started,
});

export const postHackSchema = z.object({
  jobs: z.array(job),
  /** Unknown values are null. */
  facts: z.object({ plugins: z.nullable(z.int()), users: z.nullable(z.int()), sessions: z.nullable(z.int()) }),
});

export const postHackJobs = endpoint({
  name: 'postHackJobs',
  suffix: '/post-hack-jobs',
  methods: ['POST', 'GET'],
  response: postHackSchema,
});

/** Endpoints of the page Post-hack Actions. */
export const postHackEndpoints = [reinstallPlugins, forcePasswordReset, logOutUsers, postHackJobs] as const;
