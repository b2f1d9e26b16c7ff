// The order matters: the language first, then the network, then the dashboard.
import 'virtual:polyfills';
import 'whatwg-fetch';
import 'abortcontroller-polyfill/dist/polyfill-patch-fetch';
import './main.js';
