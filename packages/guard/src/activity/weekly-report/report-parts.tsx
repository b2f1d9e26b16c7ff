import { Button } from '@react-email/button';
import { Column } from '@react-email/column';
import { Heading } from '@react-email/heading';
import { Link } from '@react-email/link';
import { Row } from '@react-email/row';
import { Text } from '@react-email/text';
import type { CSSProperties, ReactNode } from 'react';
import type { ReportFigure, ReportLabels, ReportLinks, WeeklyReport } from './build-report.js';
import { colours, styles } from './mail-styles.js';
import type { ReportList } from './report-lists.js';

/** A stretch of the card. Its padding stands in a cell: Outlook knows none of tables. */
export function Part(props: {
  readonly top: number;
  readonly bottom?: number;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Row>
      <Column className="pad" style={{ padding: `${props.top}px 40px ${props.bottom ?? 0}px` }}>
        {props.children}
      </Column>
    </Row>
  );
}

/** The figures, two in a row. */
export function Figures({ figures }: { readonly figures: readonly ReportFigure[] }): ReactNode {
  const pairs = figures.flatMap((figure, index) =>
    index % 2 === 0 ? [[figure, ...figures.slice(index + 1, index + 2)]] : [],
  );
  return pairs.map((pair, index) => (
    <Row key={pair[0]?.label} style={{ borderCollapse: 'collapse' }}>
      {pair.map(({ value, label, compared }) => (
        <Column
          key={label}
          className="figure"
          width="50%"
          style={index === 0 ? styles.figure : { ...styles.figure, borderTop: 0 }}
        >
          <Text className="ink" style={styles.figureValue}>
            {value}
          </Text>
          <Text className="soft" style={styles.small}>
            {label}
          </Text>
          {compared === '' ? null : (
            <Text className="faint" style={styles.tiny}>
              {compared}
            </Text>
          )}
        </Column>
      ))}
    </Row>
  ));
}

/** Names at the beginning of the lines, numbers at their ends. */
export function List({ list, end }: { readonly list: ReportList; readonly end: 'left' | 'right' }): ReactNode {
  const gap: CSSProperties = end === 'right' ? { paddingRight: 12 } : { paddingLeft: 12 };
  return (
    <Part top={32}>
      <Heading as="h2" className="ink" style={{ ...styles.h2, margin: '0 0 8px' }}>
        {list.title}
      </Heading>
      {list.rows.map(({ name, value }, index) => {
        const cell: CSSProperties = {
          ...(index === 0 ? {} : { borderTop: `1px solid ${colours.hair}` }),
          ...{ paddingTop: 10, paddingBottom: 10 },
        };
        const words = list.mono ? styles.mono : { ...styles.small, color: colours.ink };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows of one mail; two cut names may be the same
          <Row key={index}>
            <Column className="ink edge" style={{ ...words, ...cell, ...gap, wordBreak: 'break-word' }}>
              {list.mono ? <span dir="ltr">{name}</span> : name}
            </Column>
            <Column className="soft edge" align={end} style={{ ...styles.small, ...cell, whiteSpace: 'nowrap' }}>
              {value}
            </Column>
          </Row>
        );
      })}
      {list.foot === null ? null : (
        <Text className="faint" style={{ ...styles.tiny, margin: '4px 0 0' }}>
          {list.foot}
        </Text>
      )}
    </Part>
  );
}

/** The one thing to do. */
export function OpenPanel(props: {
  readonly open: NonNullable<WeeklyReport['open']>;
  readonly label: string;
  readonly link: string | null;
}): ReactNode {
  const { open, label, link } = props;
  return (
    <Part top={32}>
      <Row className="panel" style={styles.panel}>
        <Column style={{ padding: '20px 24px' }}>
          <Heading as="h2" className="ink" style={styles.h2}>
            {open.title}
          </Heading>
          <Text className="soft" style={{ ...styles.small, margin: '4px 0 0' }}>
            {open.names}
          </Text>
          {link === null ? null : (
            <Text style={{ ...styles.small, margin: '16px 0 0' }}>
              <Button className="button" href={link} style={styles.button}>
                {label}
              </Button>
            </Text>
          )}
        </Column>
      </Row>
    </Part>
  );
}

/** Why the reader gets this, and how to change it. */
export function Foot(props: {
  readonly notes: readonly string[];
  readonly labels: ReportLabels;
  readonly links: ReportLinks;
}): ReactNode {
  const { notes, labels, links } = props;
  const ways = [
    { href: links.log, label: labels.log },
    { href: links.recipients, label: labels.recipients },
  ].filter(({ href }) => href !== null);
  return (
    <>
      <Text className="faint" style={styles.tiny}>
        {[...notes, labels.why].join(' ')}
      </Text>
      {ways.length === 0 ? null : (
        <Text className="faint" style={styles.tiny}>
          {ways.map(({ href, label }, index) => (
            <span key={label}>
              {index === 0 ? null : ' · '}
              <Link className="brand" href={href as string} style={styles.link}>
                {label}
              </Link>
            </span>
          ))}
        </Text>
      )}
    </>
  );
}
