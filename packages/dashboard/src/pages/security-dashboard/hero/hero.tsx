import { useEffect, useRef } from 'react';
import { classes } from '../../../components/classes.js';
import { essentialsText } from '../../../components/essentials-meter.js';
import { IconTile } from '../../../components/icon-tile.js';
import { keepFocus } from '../../../components/keep-focus.js';
import { Ring } from '../../../components/ring.js';
import { useDialogs } from '../../../dialogs/use-dialogs.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import type { KnownLoginOptions } from '../../../options/read-login-options.js';
import type { KnownOptions } from '../../../options/read-security-options.js';
import type { OptionsStore } from '../../../options/use-options.js';
import { countLoginEssentials, countSecurityEssentials, type EssentialsCount } from '../../../protection/essentials.js';
import { openSteps } from '../../../protection/steps.js';
import { ALL_ESSENTIALS } from '../../../protection/use-essentials.js';
import { verdictOf } from '../../../protection/verdict.js';
import { useServices } from '../../../services.js';
import { useLoginDialogs } from '../../login-settings/use-login-dialogs.js';
import type { ApplyDialogProps } from '../apply/apply-dialog.js';
import { HeroFacts } from './hero-facts.js';
import { NextSteps } from './next-steps.js';

/** What a part of the page gets to change the options of one source. */
export interface Stored<Options> extends OptionsStore<Options> {
  readonly options: Options;
}

export interface HeroProps {
  readonly security: Stored<KnownOptions>;
  readonly login: Stored<KnownLoginOptions>;
  /** A setting was changed from here. */
  readonly onChanged: () => void;
}

const dialogs = { apply: () => import('../apply/apply-dialog.js') };

/** The protection score with its verdict, and the next steps beside it. */
export function Hero({ security, login, onChanged }: HeroProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const all = useDialogs<'apply', ApplyDialogProps>(dialogs);
  const one = useLoginDialogs();
  const first = countSecurityEssentials(security.options);
  const second = countLoginEssentials(login.options);
  const count = { on: first.on + second.on, total: first.total + second.total };
  const steps = openSteps(security.options, login.options);
  const verdict = verdictOf(count);
  const stores = {
    security: { ...security, store: withNews(security.store, onChanged) },
    login: { ...login, store: withNews(login.store, onChanged) },
  };

  const ids = steps.map(({ id }) => id).join();
  const before = useRef(ids);
  useEffect(() => {
    // With each step that goes, its button goes.
    if (before.current !== ids) keepFocus(() => heading.current);
    before.current = ids;
  }, [ids]);

  return (
    <>
      <div className={classes('so-hero', verdict.state !== 'ok' && `is-${verdict.state}`)}>
        <div className="so-hero__score">
          <div className="so-hero__top">
            <Ring {...count} state={verdict.state} />
            <div className="so-hero__verdict">
              {/* The verdict is one about ten essentials; a server that knows fewer gets the plain count. */}
              <h2>{count.total === ALL_ESSENTIALS ? verdict.text : essentialsText(count)}</h2>
              <p>{openText(count)}</p>
            </div>
          </div>
          <HeroFacts />
        </div>
        <div className="so-hero__next">
          {steps.length === 0 ? (
            <NothingLeft heading={heading} total={count.total} />
          ) : (
            <NextSteps
              {...stores}
              steps={steps}
              heading={heading}
              onApplyAll={() => all.open('apply')}
              onOpen={one.open}
            />
          )}
        </div>
      </div>
      {all.Current === null ? null : (
        <all.Current
          {...stores}
          onClosed={() => {
            all.closed();
            keepFocus(() => heading.current);
          }}
        />
      )}
      {/* Not beside the steps: with the last of them it would go before it has closed. */}
      {one.Current === null ? null : (
        <one.Current
          options={login.options}
          store={stores.login.store}
          readAgain={() => void login.readAgain().then(onChanged)}
          onClosed={() => {
            one.closed();
            keepFocus(() => heading.current);
          }}
        />
      )}
    </>
  );
}

function withNews<Change>(store: (change: Change) => void, onChanged: () => void): (change: Change) => void {
  return (change) => {
    store(change);
    onChanged();
  };
}

function openText({ on, total }: EssentialsCount): string {
  const off = total - on;
  if (off === 0) return __('Every essential is on.', 'security-optimizer');
  return on < 4
    ? sprintf(
        /* translators: %d: number of essentials */
        _n(
          '%d essential is off. Start with it.',
          '%d essentials are off. Start with these.',
          off,
          'security-optimizer',
        ),
        off,
      )
    : sprintf(
        /* translators: %d: number of essentials */
        _n('%d essential is still off.', '%d essentials are still off.', off, 'security-optimizer'),
        off,
      );
}

function NothingLeft({ heading, total }: { heading: { current: HTMLHeadingElement | null }; total: number }) {
  const { config } = useServices();
  return (
    <div className="so-hero__done">
      <IconTile name="check" state="on" large />
      <h2 ref={heading} tabIndex={-1}>
        {__('Nothing left to do', 'security-optimizer')}
      </h2>
      <p>
        {sprintf(
          /* translators: %d: number of essentials */
          __('All %d essentials are on. If that changes, you will see it here.', 'security-optimizer'),
          total,
        )}
      </p>
      {config.logPageUrl === '' ? null : (
        <a className="so-btn so-btn--iconend" href={config.logPageUrl}>
          {__('Open the activity log', 'security-optimizer')}
          <Icon name="arrow-right" size={16} />
        </a>
      )}
    </div>
  );
}
