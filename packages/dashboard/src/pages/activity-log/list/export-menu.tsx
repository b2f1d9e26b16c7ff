import { MenuButton } from '../../../components/menu-button.js';
import { __ } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { ignoreFailure } from '../../../options/use-changes.js';
import { useServices } from '../../../services.js';
import { type Applied, filterBody, filterQuery } from './applied.js';

export interface ExportMenuProps {
  readonly name: 'unknown' | 'registered';
  readonly applied: Applied;
  readonly disabled: boolean;
}

/** Saves all rows that the filters match as a file. The browser writes it while the server reads it. */
export function ExportMenu({ name, applied, disabled }: ExportMenuProps) {
  const { run, api } = useServices();

  async function download(format: 'csv' | 'json'): Promise<void> {
    // A link cannot tell what is wrong, nor renew a nonce. A small call of the same list does both first.
    const body = { list: name, since: 0, ...filterBody(applied) };
    const asked = await run<unknown>({ name: 'activityExport', call: { suffix: '/activity-new', body } }).catch(
      ignoreFailure,
    );
    if (asked === undefined) return;
    const link = document.createElement('a');
    link.href = api.link('/activity-export', { list: name, format, ...filterQuery(applied) });
    link.download = '';
    document.body.append(link);
    link.click();
    link.remove();
  }

  if (disabled) return null;
  return (
    <MenuButton
      className="so-btn so-btn--tool"
      items={[
        {
          icon: 'download',
          text: __('Export as CSV', 'security-optimizer'),
          onChoose: () => void download('csv'),
        },
        {
          icon: 'download',
          text: __('Export as JSON', 'security-optimizer'),
          onChoose: () => void download('json'),
        },
      ]}
    >
      <Icon name="download" />
      <span className="so-btn__label">{__('Export', 'security-optimizer')}</span>
    </MenuButton>
  );
}
