/** The nginx that visitors of the guides' tests reach, as it is before their first step. */

/** The usual server of a WordPress, on port 443, with the names that the guides use. */
export function serverBefore(host: string): string {
  return `server {
  listen 443 ssl;
  server_name ${host};
  ssl_certificate /etc/ssl/${host}.crt;
  ssl_certificate_key /etc/ssl/private/${host}.key;
  root /srv/www/${host};
  index index.php;
  location / {
    try_files $uri $uri/ /index.php?$args;
  }
  location ~ \\.php$ {
    include fastcgi.conf;
    fastcgi_pass unix:/run/php/php-fpm.sock;
  }
}
`;
}

/** The whole configuration, which includes all of `conf.d` beside it. Everything it writes is in a folder. */
export function frontConfig(dir: string): string {
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}worker_processes 2;
daemon off;
pid "${dir}/run/front.pid";
error_log stderr warn;
events { worker_connections 1024; }
http {
  include mime.types;
  access_log off;
  client_body_temp_path "${dir}/tmp/front-body";
  proxy_temp_path "${dir}/tmp/front-proxy";
  fastcgi_temp_path "${dir}/tmp/front-fastcgi";
  uwsgi_temp_path "${dir}/tmp/front-uwsgi";
  scgi_temp_path "${dir}/tmp/front-scgi";
  include conf.d/*.conf;
}
`;
}
