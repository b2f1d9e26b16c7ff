import { ApiFailure } from '../../../api/api-failure.js';
import { isFields } from '../../../data/fields.js';
import { useQuery, useQueryClient } from '../../../data/use-query.js';
import { useShownAgain } from '../../../data/use-shown-again.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import type { TrackedRequest } from '../../../requests/run-request.js';
import { useServices } from '../../../services.js';

export interface Recipient {
  readonly id: number;
  readonly email: string;
}

export interface Recipients {
  readonly entries: readonly Recipient[];
  readonly max: number;
}

const KEY = ['weekly-report'];

/** Who gets the weekly report. */
export function useRecipients() {
  const { run, api } = useServices();
  const client = useQueryClient();
  const query = useQuery<Recipients, ApiFailure>({
    queryKey: KEY,
    queryFn: async ({ signal }) => {
      const data = await run<unknown>({ name: 'weeklyReport', call: { suffix: '/weekly-report', signal } });
      const recipients = readRecipients(data);
      if (recipients === null) throw new ApiFailure('refused');
      return recipients;
    },
  });
  // The whole list is sent with each change: an old one would take away what was added elsewhere.
  useShownAgain(async () => {
    const answer = await api.call<unknown>({ suffix: '/weekly-report' }).catch(ignoreFailure);
    client.setQueryData<Recipients>(KEY, (before) => (before && readRecipients(answer?.data)) ?? undefined);
  });
  return {
    recipients: query.data ?? null,
    failure: query.error,
    retrying: query.isFetching,
    /** Reads the list again; what is on the screen stays meanwhile. */
    reload: () => void client.invalidateQueries({ queryKey: KEY }),
  };
}

/** The request that puts a whole new list in the place of the old one. */
export function replaceRecipients(emails: readonly string[]): Pick<TrackedRequest<unknown>, 'name' | 'call'> {
  return {
    name: 'update:notification_emails',
    call: { suffix: '/notification-emails', body: { entries: emails } },
  };
}

/** Reads the answered list. @returns null when it is none */
function readRecipients(data: unknown): Recipients | null {
  if (!isFields(data) || !Array.isArray(data.entries)) return null;
  const { entries, max_emails: max } = data;
  return { entries: entries.filter(isRecipient), max: typeof max === 'number' ? max : Number.POSITIVE_INFINITY };
}

function isRecipient(value: unknown): value is Recipient {
  return isFields(value) && typeof value.id === 'number' && typeof value.email === 'string';
}
