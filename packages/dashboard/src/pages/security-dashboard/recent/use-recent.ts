import { ApiFailure } from '../../../api/api-failure.js';
import { useQuery } from '../../../data/use-query.js';
import { useServices } from '../../../services.js';
import type { LogRows } from '../../activity-log/list/read-list.js';
import type { ListSource } from '../../activity-log/list/use-log-list.js';

export interface Recent<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly failure: ApiFailure | null;
  readonly retrying: boolean;
  readonly retry: () => void;
}

/** The newest rows of a list of the log: the limited view of the specification. */
export function useRecent<Row>(source: ListSource<Row>): Recent<Row> {
  const { runQuietly } = useServices();
  const query = useQuery<LogRows<Row>, ApiFailure>({
    queryKey: ['recent', source.name],
    queryFn: async ({ signal }) => {
      const call = { suffix: source.suffix, body: { limitedView: 1 }, signal };
      const rows = source.read(await runQuietly<unknown>({ name: source.name, call }));
      if (rows === null) throw new ApiFailure('refused');
      return rows;
    },
  });
  return {
    rows: query.data?.entries,
    failure: query.data === undefined ? query.error : null,
    retrying: query.isFetching,
    retry: () => void query.refetch(),
  };
}
