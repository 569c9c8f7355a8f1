package notify

import (
	"context"

	"beckon/render/run"
)

// toast shows n with Windows' own toasts. PowerShell reads the texts from the environment and
// inserts them into the XML as text, so nothing has to be quoted.
func toast(ctx context.Context, n Note) error {
	argv := []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command",
		toastScript}
	_, err := run.Program{Argv: argv, Env: n.env(), Limit: desktopLimit}.Output(ctx)
	return err
}

// toastScript shows the toast as PowerShell's: it needs a program from the start menu, and
// beckon is not there.
const toastScript = `$ErrorActionPreference = 'Stop'
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$text = $xml.GetElementsByTagName('text')
[void]$text.Item(0).AppendChild($xml.CreateTextNode($env:BECKON_TITLE))
[void]$text.Item(1).AppendChild($xml.CreateTextNode($env:BECKON_BODY))
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($xml))
`
