import '../../icons/post-hack-icons.js';
import { LoadFailed } from '../../components/load-failed.js';
import { Note } from '../../components/note.js';
import { Section } from '../../components/section.js';
import { __ } from '../../i18n/translate.js';
import { OptionsSkeleton } from '../../options/options-skeleton.js';
import { Actions } from './actions.js';
import { Checkup } from './checkup.js';
import { usePostHack } from './use-post-hack.js';

/** Post-hack Actions: three remedies, how they go, and a look for traces. */
export default function PostHackActionsPage() {
  const page = usePostHack();
  const { options } = page;
  const title = __('Post-hack Actions', 'security-optimizer');
  return (
    <>
      <section className="so-section" aria-label={__('Where to start', 'security-optimizer')}>
        <Note>
          <p>
            <strong>{__('Not sure where to start?', 'security-optimizer')}</strong>{' '}
            {__(
              'Reinstall the plugins first, then force a password reset. If the trouble stays, restore a back-up or ask your host.',
              'security-optimizer',
            )}
          </p>
        </Note>
      </section>
      <Section title={title} busy={options.state === 'loading'}>
        {options.state === 'loading' ? <OptionsSkeleton rows={3} /> : null}
        {options.state === 'failed' ? (
          <div className="so-card so-card__body">
            <LoadFailed
              text={__('We couldn’t see whether an action is under way.', 'security-optimizer')}
              failure={options.failure}
              retrying={options.retrying}
              onRetry={options.retry}
            />
          </div>
        ) : null}
        {options.state === 'ready' ? <Actions page={page} /> : null}
      </Section>
      {options.state === 'ready' ? <Checkup disabled={page.loggedOut} /> : null}
    </>
  );
}
