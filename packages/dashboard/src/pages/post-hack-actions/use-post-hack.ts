import type { Job, JobKind } from '@security-optimizer/contract/post-hack';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { ApiFailure } from '../../api/api-failure.js';
import { postHackSource } from '../../options/options-source.js';
import { useOptions } from '../../options/use-options.js';
import { useServices } from '../../services.js';
import { endedNotice } from './ended-notice.js';
import { type PostHackState, readPostHack } from './read-post-hack.js';

/** Rest between two looks at a job that runs, milliseconds. */
const POLL_MS = 1000;
/** Rest after a look that failed: guard may be starting, or the network be away. */
const POLL_AFTER_FAILURE_MS = 5000;

const NOTHING = {};

export interface PostHack {
  /** Loading, failed, or ready. */
  readonly options: ReturnType<typeof useOptions<object>>;
  readonly known: PostHackState;
  /** Nobody is logged in here any more, so nothing can be asked or started. */
  readonly loggedOut: boolean;
  readonly jobOf: (kind: JobKind) => Job | null;
  /** Takes a job that was answered to a start. */
  readonly began: (job: Job) => void;
  /** Looks at once. */
  readonly look: () => void;
  /** The own session has ended with the action. */
  readonly leave: () => void;
}

/** The jobs of the page and what is known; asked for again every second while a job runs, without a word. */
export function usePostHack(): PostHack {
  const { api, notices, config } = useServices();
  const options = useOptions(postHackSource);
  const [loggedOut, setLoggedOut] = useState(false);
  /** Grows with each look that has ended. */
  const [looks, setLooks] = useState(0);
  const [failed, setFailed] = useState(false);
  const { store } = options;
  const answer = options.state === 'ready' ? options.options : NOTHING;
  const known = useMemo(() => readPostHack(answer), [answer]);
  const { jobs } = known;
  const running = jobs.some((job) => job.state === 'running');

  const leave = useCallback(() => {
    setLoggedOut(true);
    notices.show(endedNotice(config.loginUrl));
  }, [notices, config.loginUrl]);

  const look = useCallback(async () => {
    try {
      const { data } = await api.call<unknown>(postHackSource.call);
      store(postHackSource.read(data));
      setFailed(false);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.kind === 'session_gone') leave();
      setFailed(true);
    }
    setLooks((before) => before + 1);
  }, [api, store, leave]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each look that has ended asks for the next one
  useEffect(() => {
    if (!running || loggedOut) return;
    const timer = setTimeout(() => void look(), failed ? POLL_AFTER_FAILURE_MS : POLL_MS);
    return () => clearTimeout(timer);
  }, [running, loggedOut, failed, looks, look]);

  return {
    options,
    known,
    loggedOut,
    jobOf: (kind) => jobs.find((job) => job.kind === kind) ?? null,
    began: (job) => store({ jobs: [...jobs.filter(({ kind }) => kind !== job.kind), job] }),
    look: () => void look(),
    leave,
  };
}
