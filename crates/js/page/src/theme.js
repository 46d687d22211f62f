// Sets the theme before anything is drawn. A script of its own, as the policy of the page allows no script inside it.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be switched off. Then the theme is that of the system.
}
