import type { JobItem } from '@security-optimizer/contract/post-hack';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Icon } from '../../icons/icon.js';

export interface PluginListProps {
  readonly items: readonly JobItem[];
  /** Null while nothing can be started. */
  readonly onRetry: ((file: string) => void) | null;
}

/** Every plugin with what became of it. Names come from plugins and may hold anything. */
export function PluginList({ items, onRetry }: PluginListProps) {
  return (
    <ul className="so-run__list">
      {items.map((item) => (
        <li key={item.id}>
          <b>
            <bdi>{item.name}</bdi>
          </b>
          <small className="so-num">
            <bdi>{item.version}</bdi>
          </small>
          <State item={item} onRetry={onRetry} />
          {item.files.length > 0 ? <Removed files={item.files} /> : null}
        </li>
      ))}
    </ul>
  );
}

function State({ item, onRetry }: { readonly item: JobItem; readonly onRetry: PluginListProps['onRetry'] }) {
  switch (item.state) {
    case 'waiting':
      return <span>{__('Waiting', 'security-optimizer')}</span>;
    case 'running':
      return (
        <span>
          <span className="so-spin" />
          {__('Reinstalling…', 'security-optimizer')}
        </span>
      );
    case 'done':
      return (
        <span className="is-ok">
          <Icon name="check" size={16} />
          {[__('Clean copy in place', 'security-optimizer'), item.reason].filter(Boolean).join('. ')}
        </span>
      );
    case 'skipped':
      return (
        <span>
          <Icon name="minus" size={16} />
          {[__('Skipped', 'security-optimizer'), item.reason].filter(Boolean).join('. ')}
        </span>
      );
    case 'failed':
      return (
        <span className="is-bad">
          <Icon name="error" size={16} />
          <span>
            {item.reason || __('It could not be reinstalled.', 'security-optimizer')}{' '}
            {onRetry === null ? null : (
              <button
                type="button"
                className="so-link"
                /* translators: %s: name of a plugin */
                aria-label={sprintf(__('Try again: %s', 'security-optimizer'), item.name)}
                onClick={() => onRetry(item.id)}
              >
                {__('Try again', 'security-optimizer')}
              </button>
            )}
          </span>
        </span>
      );
  }
}

function Removed({ files }: { readonly files: readonly string[] }) {
  return (
    <details>
      <summary>
        {sprintf(
          /* translators: %d: number of files */
          _n(
            '%d file that is not part of it was removed',
            '%d files that are not part of it were removed',
            files.length,
            'security-optimizer',
          ),
          files.length,
        )}
      </summary>
      <ul className="so-run__files" dir="ltr">
        {files.map((file) => (
          <li key={file}>{file}</li>
        ))}
      </ul>
    </details>
  );
}
