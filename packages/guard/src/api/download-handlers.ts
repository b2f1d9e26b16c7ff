import type { downloads } from '@security-optimizer/contract/activity-export';
import type { z } from 'zod';
import type { ExportAsk, ExportFile } from '../activity/export-activity.js';
import type { CallContext } from './call-context.js';

type AnyDownload = (typeof downloads)[number];

/** One handler for each call that answers with a file. */
export type DownloadHandlers = {
  readonly [Call in AnyDownload as Call['name']]: (
    input: z.output<Call['request']>,
    context: CallContext,
  ) => Promise<ExportFile>;
};

/** The use cases behind the calls that answer with a file. */
export interface DownloadUseCases {
  /** Throws ApiError invalid_input; StorageError. */
  readonly exportActivity: (ask: ExportAsk) => Promise<ExportFile>;
}

/** Connects each call that answers with a file with its use case. */
export function createDownloadHandlers(useCases: DownloadUseCases): DownloadHandlers {
  return {
    activityExport: ({ list, format, exact, ...parameters }, { site }) =>
      useCases.exportActivity({ site, list, format, parameters, exact: exact === 1 }),
  };
}
