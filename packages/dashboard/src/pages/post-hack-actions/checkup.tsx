import { useRef, useState } from 'react';
import { ApiFailure } from '../../api/api-failure.js';
import { Button } from '../../components/button.js';
import { IconTile } from '../../components/icon-tile.js';
import { LoadFailed } from '../../components/load-failed.js';
import { Section } from '../../components/section.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { ignoreFailure } from '../../options/use-changes.js';
import { useServices } from '../../services.js';
import { CheckupPartView } from './checkup-part.js';
import { type CheckupPart, readCheckup } from './read-checkup.js';

/** Longer than WordPress has for all four parts together, milliseconds. */
const TIMEOUT_MS = 270_000;

/** Looks for traces of a break-in. Changes nothing. @param disabled nobody is logged in any more */
export function Checkup({ disabled }: { readonly disabled: boolean }) {
  const { run } = useServices();
  const [looking, setLooking] = useState(false);
  const [parts, setParts] = useState<readonly CheckupPart[] | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const underWay = useRef(false);

  function look(): void {
    if (underWay.current) return;
    underWay.current = true;
    setLooking(true);
    setFailure(null);
    run<unknown>({
      name: 'checkup',
      call: { suffix: '/checkup', body: {}, timeout: TIMEOUT_MS },
      onSuccess: (data) => {
        const read = readCheckup(data);
        setParts(read);
        if (read === null) setFailure(new ApiFailure('refused'));
      },
      onFailure: setFailure,
      onComplete: () => {
        underWay.current = false;
        setLooking(false);
      },
    }).catch(ignoreFailure);
  }

  return (
    <Section title={__('Checkup', 'security-optimizer')} busy={looking}>
      <div className="so-card">
        <div className="so-row">
          <IconTile name="search" state="off" />
          <div className="so-row__text">
            <h3>
              <span>{__('Look for traces', 'security-optimizer')}</span>
            </h3>
            <p>
              {__(
                'Compares the files of WordPress with the official ones and lists administrators, settings and scheduled tasks that may have been left behind. It changes nothing.',
                'security-optimizer',
              )}
            </p>
          </div>
          <div className="so-row__ctl">
            <Button
              onClick={look}
              disabled={disabled}
              pendingText={looking ? __('Looking…', 'security-optimizer') : undefined}
            >
              {parts === null ? __('Look for traces', 'security-optimizer') : __('Look again', 'security-optimizer')}
            </Button>
          </div>
        </div>
        <div className="so-vh" role="status">
          {parts === null || looking ? null : resultText(parts)}
        </div>
        {failure === null ? null : (
          <div className="so-card__body so-card__sep">
            <LoadFailed
              text={__('We couldn’t look for traces.', 'security-optimizer')}
              failure={failure}
              onRetry={look}
            />
          </div>
        )}
        {parts?.map((part) => (
          <CheckupPartView key={part.part} part={part} />
        ))}
      </div>
    </Section>
  );
}

function resultText(parts: readonly CheckupPart[]): string {
  const problems = parts.flatMap(({ findings }) => findings).filter(({ level }) => level === 'problem').length;
  if (problems === 0) return __('Nothing suspicious was found.', 'security-optimizer');
  return sprintf(
    /* translators: %d: number of findings */
    _n('%d finding should be looked at.', '%d findings should be looked at.', problems, 'security-optimizer'),
    problems,
  );
}
