import { SKELETON_ROWS } from '@security-optimizer/contract/limits';
import { __ } from '../i18n/translate.js';

/** Widths of the bars, in per cent: rows of one length would look like a pattern. */
const WIDTHS = [70, 64, 72, 58, 66];

/** Shown while the rows of a table load. The last column is the one with actions. */
export function TableSkeleton({ columns }: { readonly columns: readonly string[] }) {
  return (
    <div className="so-tablewrap" aria-busy="true">
      <span className="so-vh" role="status">
        {__('Loading', 'security-optimizer')}
      </span>
      <table className="so-table so-table--sk" aria-hidden="true">
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th key={column} className={place === columns.length - 1 ? 'so-c-end' : undefined}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: SKELETON_ROWS }, (_, row) => row).map((row) => (
            <tr key={row}>
              {columns.map((column, place) => (
                <td key={column}>
                  <span
                    className={place === columns.length - 1 ? 'so-sk so-sk--end' : 'so-sk'}
                    style={place === columns.length - 1 ? undefined : { width: `${WIDTHS[(row + place) % 5]}%` }}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
