import type { Job, JobKind } from '@security-optimizer/contract/post-hack';
import type { ReactNode } from 'react';
import { Button } from '../../components/button.js';
import { IconTile } from '../../components/icon-tile.js';
import { Icon } from '../../icons/icon.js';
import { actionTexts } from './action-texts.js';

export interface Fact {
  readonly icon: string;
  readonly text: string;
}

export interface ActionRowProps {
  readonly kind: JobKind;
  readonly job: Job | null;
  /** What it costs, in a few words each. */
  readonly facts: readonly Fact[];
  readonly disabled: boolean;
  readonly onStart: () => void;
  /** How it goes, or what came of it. */
  readonly children: ReactNode;
}

/** An action: what it does, what it costs, its button, and below how it goes. */
export function ActionRow({ kind, job, facts, disabled, onStart, children }: ActionRowProps) {
  const texts = actionTexts(kind);
  const running = job?.state === 'running';
  return (
    <>
      <div className="so-row">
        <IconTile name={texts.icon} state="off" />
        <div className="so-row__text">
          <h3>
            <span>{texts.title}</span>
          </h3>
          <p>{texts.help}</p>
          <ul className="so-facts">
            {facts.map(({ icon, text }) => (
              <li key={text}>
                <Icon name={icon} size={16} />
                {text}
              </li>
            ))}
          </ul>
        </div>
        <div className="so-row__ctl">
          <Button onClick={onStart} disabled={disabled} pendingText={running ? texts.acting : undefined}>
            {texts.act}
          </Button>
        </div>
      </div>
      {children}
    </>
  );
}
