/** Exact texts of the specification (section 8), and general texts of the product. */
export const messages = {
  noResponse: 'An error occurred. Please try again later',
  notJson: 'No JSON from WP api!',
  notJsonTitle: 'Could not connect to the WordPress REST API',
  notJsonHelp:
    'A security plugin, a custom function or rules in .htaccess prevent the WordPress REST API from working.',
  nothingFound: 'Nothing was found',
  required: 'This field is required.',
  invalidFormat: 'Invalid format.',
  longUrl: 'Use at most 2000 characters.',
  /** `{name}`: the text that can't be parsed, see `readAddresses`. */
  invalidAddress: 'Invalid format. Check “{name}”.',
  invalidEmail: 'Invalid email address.',
  emailExists: 'Email %(name)s already exists.',
} as const;
