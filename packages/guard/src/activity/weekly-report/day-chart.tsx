import { Column } from '@react-email/column';
import { Heading } from '@react-email/heading';
import { Row } from '@react-email/row';
import { Text } from '@react-email/text';
import type { ReactNode } from 'react';
import type { ReportDay, ReportLabels } from './build-report.js';
import { colours, styles } from './mail-styles.js';
import { Part } from './report-parts.js';

const CHART_PX = 90;
const BAR_PX = 28;
/** From top to bottom. */
const STACK = ['blocked', 'bots', 'humans'] as const;
const LEGEND = ['humans', 'bots', 'blocked'] as const;

/** Bars of table cells with a background, which every mail program can draw. */
export function DayChart(props: { readonly days: readonly ReportDay[]; readonly labels: ReportLabels }): ReactNode {
  const { days, labels } = props;
  const highest = Math.max(...days.map((day) => day.humans + day.bots + day.blocked), 0);
  if (highest === 0) return null;
  const width = `${(100 / days.length).toFixed(2)}%`;
  const name = { ...styles.tiny, lineHeight: '16px', paddingTop: 8, borderTop: `1px solid ${colours.line}` };
  return (
    <Part top={32}>
      <Heading as="h2" className="ink" style={{ ...styles.h2, margin: '0 0 16px' }}>
        {labels.days}
      </Heading>
      <Row>
        {days.map((day) => (
          <Column key={day.name} align="center" valign="bottom" height={CHART_PX + 8} width={width}>
            <Bar day={day} highest={highest} />
          </Column>
        ))}
      </Row>
      <Row>
        {days.map((day) => (
          <Column key={day.name} className="faint edge" align="center" width={width} style={name}>
            {day.name}
          </Column>
        ))}
      </Row>
      <Text className="soft" style={{ ...styles.tiny, color: colours.soft, margin: '12px 0 0' }}>
        {LEGEND.map((what) => (
          <span key={what} style={{ whiteSpace: 'nowrap' }}>
            <span className={`${what}-ink`} style={{ color: colours[what] }}>
              ■
            </span>
            {` ${labels[what]} \u00a0\u00a0 `}
          </span>
        ))}
      </Text>
    </Part>
  );
}

/** The visits of a day, one upon the other; what cannot be seen is said. */
function Bar({ day, highest }: { readonly day: ReportDay; readonly highest: number }): ReactNode {
  const parts = STACK.filter((what) => day[what] > 0);
  if (parts.length === 0) return <span role="img" aria-label={day.words} title={day.words} />;
  return (
    <div role="img" aria-label={day.words} title={day.words}>
      <table role="presentation" align="center" cellPadding={0} cellSpacing={0} border={0} width={BAR_PX}>
        <tbody>
          {parts.map((what) => (
            <Block key={what} what={what} height={Math.max(2, Math.round((day[what] / highest) * CHART_PX))} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Block({ what, height }: { readonly what: (typeof STACK)[number]; readonly height: number }): ReactNode {
  const style = {
    height,
    fontSize: 1,
    lineHeight: '1px',
    // Without it Word makes a row at least as high as a line of text.
    msoLineHeightRule: 'exactly',
    backgroundColor: colours[what],
    borderBottom: `1px solid ${colours.card}`,
  };
  return (
    <tr>
      <td className={`${what} seam`} height={height} style={style}>
        {'\u00a0'}
      </td>
    </tr>
  );
}
