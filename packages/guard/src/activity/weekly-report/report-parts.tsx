import type { CSSProperties, ReactNode } from 'react';
import type { ReportDay, ReportFigure, ReportList, WeeklyReport } from './build-report.js';
import { count } from './compare-words.js';
import { colours, styles } from './mail-styles.js';

/** A table that only arranges. */
export function Rows(props: {
  readonly children: ReactNode;
  readonly className?: string;
  readonly width?: number | string;
  readonly style?: CSSProperties;
  readonly label?: string;
}): ReactNode {
  const { children, className, width = '100%', style, label } = props;
  return (
    <table
      role="presentation"
      className={className}
      width={width}
      cellPadding={0}
      cellSpacing={0}
      border={0}
      style={style}
      aria-label={label}
    >
      <tbody>{children}</tbody>
    </table>
  );
}

/** A stretch of the card. */
export function Part(props: {
  readonly top: number;
  readonly bottom?: number;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <tr>
      <td className="pad" style={{ ...styles.base, padding: `${props.top}px 40px ${props.bottom ?? 0}px` }}>
        {props.children}
      </td>
    </tr>
  );
}

/** The figures, two in a row. */
export function Figures({ figures }: { readonly figures: readonly ReportFigure[] }): ReactNode {
  const pairs = figures.flatMap((figure, index) => (index % 2 === 0 ? [[figure, figures[index + 1]]] : []));
  return (
    <Rows className="half" style={{ borderCollapse: 'collapse' }}>
      {pairs.map((pair) => (
        <tr key={pair[0]?.label}>
          {pair.map((figure) =>
            figure === undefined ? null : (
              <td key={figure.label} className="figure" width="50%" style={styles.figure}>
                <div className="ink" style={styles.figureValue}>
                  {figure.value}
                </div>
                <div className="soft" style={styles.small}>
                  {figure.label}
                </div>
                {figure.compared === '' ? null : (
                  <div className="faint" style={styles.tiny}>
                    {figure.compared}
                  </div>
                )}
              </td>
            ),
          )}
        </tr>
      ))}
    </Rows>
  );
}

const CHART_PX = 90;
/** From top to bottom. */
const STACK = ['blocked', 'bots', 'humans'] as const;
const LEGEND = [
  ['humans', 'Humans'],
  ['bots', 'Bots'],
  ['blocked', 'Blocked'],
] as const;

/** Bars of table cells, which every mail program can draw. */
export function DayChart({ days }: { readonly days: readonly ReportDay[] }): ReactNode {
  const highest = Math.max(...days.map((day) => day.humans + day.bots + day.blocked), 0);
  if (highest === 0) return null;
  const share = 100 / days.length;
  return (
    <Part top={32}>
      <h2 className="ink" style={{ ...styles.h2, marginBottom: 16 }}>
        Day by day
      </h2>
      <Rows label="Visits of each day">
        <tr>
          {days.map((day) => (
            <td
              key={day.name}
              align="center"
              valign="bottom"
              height={CHART_PX + 8}
              width={`${share}%`}
              style={{ padding: '0 2px' }}
            >
              <Bar day={day} highest={highest} />
            </td>
          ))}
        </tr>
        <tr>
          {days.map((day) => (
            <td
              key={day.name}
              className="faint edge"
              align="center"
              style={{ ...styles.tiny, lineHeight: '16px', paddingTop: 8, borderTop: `1px solid ${colours.line}` }}
            >
              {day.name}
            </td>
          ))}
        </tr>
      </Rows>
      <p className="soft" style={{ ...styles.tiny, color: colours.soft, margin: '12px 0 0' }}>
        {LEGEND.map(([name, label]) => (
          <span key={name} style={{ whiteSpace: 'nowrap', marginRight: 14 }}>
            <span className={`${name}-ink`} style={{ color: colours[name] }}>
              ■
            </span>{' '}
            {label}{' '}
          </span>
        ))}
      </p>
    </Part>
  );
}

function Bar({ day, highest }: { readonly day: ReportDay; readonly highest: number }): ReactNode {
  const title = `${day.name}: ${count(day.humans)} humans, ${count(day.bots)} bots, ${count(day.blocked)} blocked`;
  const parts = STACK.filter((name) => day[name] > 0);
  if (parts.length === 0) return <span title={title} />;
  return (
    <table role="presentation" cellPadding={0} cellSpacing={0} border={0} width={28} title={title}>
      <tbody>
        {parts.map((name) => {
          const height = Math.max(2, Math.round((day[name] / highest) * CHART_PX));
          return (
            <tr key={name}>
              <td
                className={`${name} seam`}
                height={height}
                style={{
                  height,
                  lineHeight: '1px',
                  fontSize: 1,
                  background: colours[name],
                  borderBottom: `1px solid ${colours.card}`,
                }}
              >
                {'\u00a0'}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Names on the left, numbers on the right. */
export function List({ list }: { readonly list: ReportList }): ReactNode {
  return (
    <Part top={32}>
      <h2 className="ink" style={{ ...styles.h2, marginBottom: 8 }}>
        {list.title}
      </h2>
      {list.rows.length === 0 ? null : (
        <Rows>
          {list.rows.map(({ name, value }, index) => {
            const edge: CSSProperties = index === 0 ? {} : { borderTop: `1px solid ${colours.hair}` };
            const words = list.mono ? styles.mono : { ...styles.small, color: colours.ink };
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of one mail; two cut names may be the same
              <tr key={index}>
                <td
                  className="ink edge"
                  style={{ ...words, ...edge, padding: '10px 12px 10px 0', wordBreak: 'break-word' }}
                >
                  {name}
                </td>
                <td
                  className="soft edge"
                  align="right"
                  style={{ ...styles.small, ...edge, padding: '10px 0', whiteSpace: 'nowrap' }}
                >
                  {value}
                </td>
              </tr>
            );
          })}
        </Rows>
      )}
      {list.foot === null ? null : (
        <p className="faint" style={{ ...styles.tiny, margin: '4px 0 0' }}>
          {list.foot}
        </p>
      )}
    </Part>
  );
}

/** The one thing to do. */
export function OpenPanel(props: { readonly open: NonNullable<WeeklyReport['open']>; readonly link: string | null }) {
  const { open, link } = props;
  return (
    <Part top={32}>
      <Rows className="panel" style={styles.panel}>
        <tr>
          <td style={{ ...styles.base, padding: '20px 24px' }}>
            <p className="ink" style={styles.h2}>
              {open.title}
            </p>
            <p className="soft" style={{ ...styles.small, margin: '4px 0 0' }}>
              {open.names}
            </p>
            {link === null ? null : (
              <p style={{ margin: '16px 0 0' }}>
                <a className="button" href={link} style={styles.button}>
                  Finish the set-up
                </a>
              </p>
            )}
          </td>
        </tr>
      </Rows>
    </Part>
  );
}
