// The part in Qt of the program in main-loops.swift.
#include <QGuiApplication>
#include <QSocketNotifier>
#include <QWindow>

/// Lets Qt's loop run the jobs of Swift's main actor, also where it is not GLib's.
void attachMainActor(int descriptor, void (*runPendingJobs)()) {
  auto notifier = new QSocketNotifier(descriptor, QSocketNotifier::Read, qApp);
  QObject::connect(notifier, &QSocketNotifier::activated, qApp, runPendingJobs);
}

extern "C" void runQt(int descriptor, void (*runPendingJobs)()) {
  char name[] = "main-loops", *arguments[] = {name, nullptr};
  int count = 1;
  QGuiApplication app(count, arguments);
  if (descriptor >= 0) attachMainActor(descriptor, runPendingJobs);
  QWindow window;
  window.setTitle("Qt");
  window.show();
  app.exec();
}

extern "C" void quitQt() { QCoreApplication::quit(); }
